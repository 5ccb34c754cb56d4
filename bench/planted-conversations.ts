import type { Round } from '../server/models/chat-model.ts';
import { countTokens } from '../server/models/tokens.ts';
import { CHATTER } from './planted-chatter.ts';
import { type PhrasingSet, TUNING } from './planted-phrasings.ts';
import { HELD_OUT } from './planted-phrasings-held-out.ts';

export type Language = 'zh' | 'en';
export type Phrasings = 'tuning' | 'held-out';
export type FactKind = 'number' | 'date' | 'name' | 'open' | 'source';

/** Something planted. `values`: oldest first, the last one holds; an open point has none. */
export interface PlantedFact {
  kind: FactKind;
  /** What a line that tells it must name, in any case. */
  subject: string[];
  values: string[];
  lastRound: number;
}

export interface PlantedConversation {
  rounds: Round[];
  tokens: number;
  facts: PlantedFact[];
}

const COUNTS = { number: 22, date: 14, name: 12, open: 6, source: 6 } as const;
/** How many facts of a kind are corrected once, and how many of those twice. */
const CORRECTED = { number: [6, 2], date: [4, 1], name: [4, 1] } as const;
const MIN_TOKENS = 102_000;
const ROUNDS = 180;

/** The same conversation for the same seed, language and phrasings: at least 100,000 tokens, 60 facts. */
export function plantConversation(options: {
  language: Language;
  phrasings: Phrasings;
  seed: number;
}): PlantedConversation {
  const random = seededRandom(options.seed * 7919 + (options.language === 'zh' ? 1 : 2));
  const planter = new Planter(options.language, options.phrasings === 'tuning' ? TUNING : HELD_OUT, random);
  return planter.plant();
}

interface Plant {
  fact: PlantedFact;
  text: string;
  answer: string;
  /** Earlier versions come first: an order within the fact. */
  step: number;
}

type Random = () => number;

class Planter {
  readonly #language: Language;
  readonly #set: PhrasingSet;
  readonly #random: Random;
  readonly #values = new Set<string>();
  readonly #people: string[];

  constructor(language: Language, sets: Readonly<Record<Language, PhrasingSet>>, random: Random) {
    this.#language = language;
    this.#set = sets[language];
    this.#random = random;
    this.#people = shuffled(this.#set.people, random);
  }

  plant(): PlantedConversation {
    const plants = this.#facts();
    const placed = this.#place(plants);
    const rounds: Round[] = [];
    let tokens = 0;
    for (let index = 0; index < ROUNDS || tokens < MIN_TOKENS; index += 1) {
      const round = this.#round(placed.get(index) ?? [], index);
      rounds.push(round);
      tokens += countTokens(round.question) + countTokens(round.answer);
    }
    return { rounds, tokens, facts: [...new Set(plants.flat().map(({ fact }) => fact))] };
  }

  #facts(): Plant[][] {
    const { areas, numbers, dates, roles, topics, documents } = this.#set;
    const pairs = (things: readonly string[]) =>
      shuffled(
        areas.flatMap((area) => things.map((thing) => ({ area, thing }))),
        this.#random,
      );
    const valued = (kind: 'number' | 'date' | 'name', things: readonly string[]) =>
      pairs(things)
        .slice(0, COUNTS[kind])
        .map(({ area, thing }, index) => this.#valuedFact(kind, { area, attribute: thing, index }));
    return [
      ...valued('number', numbers.attributes),
      ...valued('date', dates),
      ...valued('name', roles),
      ...pairs(topics)
        .slice(0, COUNTS.open)
        .map(({ area, thing }, index) => this.#openFact(area, thing, index)),
      ...documents.slice(0, COUNTS.source).map((document, index) => this.#sourceFact(document, index)),
    ];
  }

  #valuedFact(
    kind: 'number' | 'date' | 'name',
    { area, attribute, index }: { area: string; attribute: string; index: number },
  ): Plant[] {
    const [corrected, twice] = CORRECTED[kind];
    const steps = index < twice ? 3 : index < corrected ? 2 : 1;
    const values = Array.from({ length: steps }, () => this.#value(kind, attribute));
    const fact: PlantedFact = { kind, subject: [bare(area), attribute], values, lastRound: 0 };
    return values.map((value, step) => {
      const template =
        step === 0 ? this.#phrase(this.#set[kind], index) : this.#phrase(this.#set.corrections, index + step * 3);
      const text = this.#fill(template, { area, attribute, value, old: values[step - 1] ?? '' });
      return {
        fact,
        text,
        step,
        answer: this.#fill(pick(CHATTER[this.#language].acknowledgements, this.#random), { fact: text }),
      };
    });
  }

  #openFact(area: string, topic: string, index: number): Plant[] {
    const fact: PlantedFact = { kind: 'open', subject: [bare(area), topic], values: [], lastRound: 0 };
    const text = this.#fill(this.#phrase(this.#set.opens, index), { area, topic });
    return [{ fact, text, step: 0, answer: '' }];
  }

  #sourceFact(source: string, index: number): Plant[] {
    const fact: PlantedFact = { kind: 'source', subject: [], values: [source], lastRound: 0 };
    const area = pick(this.#set.areas, this.#random);
    const text = this.#fill(pick(this.#set.asks, this.#random), { area });
    return [{ fact, text, step: 0, answer: this.#fill(this.#phrase(this.#set.sources, index), { source }) }];
  }

  /** Every phrasing of a kind in turn, from a place that the seed chose. */
  #phrase(templates: readonly string[], index: number): string {
    return templates[(index + this.#offset) % templates.length] ?? '';
  }

  get #offset(): number {
    this.#start ??= Math.floor(this.#random() * 20);
    return this.#start;
  }

  #start: number | undefined;

  #value(kind: 'number' | 'date' | 'name', attribute: string): string {
    if (kind === 'name') return this.#people.pop() ?? '';
    for (;;) {
      const value = kind === 'date' ? this.#date() : this.#number(attribute);
      if (this.#values.has(value)) continue;
      this.#values.add(value);
      return value;
    }
  }

  /** Three or four digits: the chatter has at most two, so that no value is met by chance. */
  #number(attribute: string): string {
    const unit = this.#set.numbers.units[this.#set.numbers.attributes.indexOf(attribute)] ?? '';
    const number = 101 + Math.floor(this.#random() * 4_800);
    return this.#language === 'zh'
      ? `${number}${unit}`
      : `${number >= 1000 ? number.toLocaleString('en-US') : number} ${unit}`;
  }

  #date(): string {
    const month = Math.floor(this.#random() * 12);
    const day = 9 + Math.floor(this.#random() * 20);
    if (this.#language === 'zh') return `${month + 1}月${day}日`;
    const name = new Date(Date.UTC(2026, month, 1)).toLocaleString('en-US', { month: 'long', timeZone: 'UTC' });
    return this.#random() < 0.5 ? `${name} ${day}` : `${day} ${name}`;
  }

  /** Spreads the plants over all rounds, those of one fact in their order and at least ten rounds apart. */
  #place(facts: readonly Plant[][]): Map<number, Plant[]> {
    const placed = new Map<number, Plant[]>();
    for (const [index, plants] of shuffled(facts, this.#random).entries()) {
      const start = Math.floor(((index + this.#random()) / facts.length) * (ROUNDS - 12 * plants.length));
      let round = start;
      for (const plant of plants) {
        placed.set(round, [...(placed.get(round) ?? []), plant]);
        plant.fact.lastRound = round;
        round += 10 + Math.floor(this.#random() * Math.max(1, (ROUNDS - round - 12 * plants.length) * 0.8));
      }
    }
    return placed;
  }

  #round(plants: readonly Plant[], index: number): Round {
    const chatter = CHATTER[this.#language];
    const space = this.#language === 'zh' ? '' : ' ';
    const said = plants.map(({ text }) => text);
    const talk = this.#random() < 0.4 ? [this.#fill(pick(chatter.smallTalk, this.#random), {})] : [];
    const question =
      said.length === 0 || index % 3 === 0 ? [this.#fill(pick(chatter.questions, this.#random), {})] : [];
    const body = shuffled(chatter.answers, this.#random)
      .slice(0, 14 + Math.floor(this.#random() * 20))
      .map((sentence) => this.#fill(sentence, {}));
    const answers = plants.map(({ answer }) => answer).filter((answer) => answer !== '');
    const middle = Math.floor(this.#random() * body.length);
    return {
      question: [...talk, ...said, ...question].join(space),
      answer: [...answers.slice(0, 1), ...body.slice(0, middle), ...answers.slice(1), ...body.slice(middle)].join(
        space,
      ),
    };
  }

  #fill(template: string, values: Readonly<Record<string, string>>): string {
    const chatter = CHATTER[this.#language];
    return template.replace(/\{(\w+)\}/g, (_, slot: string) => {
      if (slot === 'n') return String(11 + Math.floor(this.#random() * 88));
      if (slot === 'm') return String(2 + Math.floor(this.#random() * 20));
      if (slot === 'who') return pick(chatter.people, this.#random);
      if (slot === 'day') return pick(chatter.days, this.#random);
      return values[slot] ?? '';
    });
  }
}

/** Without the article, which a sentence may put elsewhere. */
function bare(area: string): string {
  return area.replace(/^the /, '');
}

function pick<Item>(items: readonly Item[], random: Random): Item {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error('Nothing to pick from.');
  return item;
}

function shuffled<Item>(items: readonly Item[], random: Random): Item[] {
  return items
    .map((item) => ({ item, key: random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item);
}

/** mulberry32: the same numbers for the same seed on every machine. */
function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
