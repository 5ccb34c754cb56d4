import { TUNING_EN } from './planted-phrasings-en.ts';
import { TUNING_ZH } from './planted-phrasings-zh.ts';

/** How one language plants its facts. Slots: `{area}`, `{attribute}`, `{value}`, `{old}`, `{topic}`, `{source}`. */
export interface PhrasingSet {
  areas: string[];
  /** A unit for each attribute. */
  numbers: { attributes: string[]; units: string[] };
  dates: string[];
  roles: string[];
  people: string[];
  number: string[];
  date: string[];
  name: string[];
  corrections: string[];
  opens: string[];
  topics: string[];
  sources: string[];
  documents: string[];
  /** Questions whose answer cites a source. */
  asks: string[];
}

/** The phrasings that the summariser was tuned on. */
export const TUNING: Readonly<Record<'zh' | 'en', PhrasingSet>> = { zh: TUNING_ZH, en: TUNING_EN };
