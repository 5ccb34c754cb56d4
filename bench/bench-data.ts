import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { z } from 'zod';
import { BenchUsageError } from './bench.ts';

/** A paragraph of a corpus. `key`: what questions call it by. */
export interface CorpusParagraph {
  key: string;
  document: string;
  title: string;
  content: string;
}

/** `gold`: keys of the paragraphs that answer it. `steps`: its parts, in the order they can be asked. */
export interface BenchQuestion {
  question: string;
  gold: string[];
  steps: QuestionStep[];
}

/** A part of a question. `dependsOn`: places in `steps` whose answers it needs; `#1` in the text stands for the first. */
export interface QuestionStep {
  question: string;
  gold: string[];
  dependsOn: number[];
  answer: string;
}

const lawArticle = z.object({
  id: z.number(),
  law: z.string(),
  date: z.string(),
  chapter: z.string(),
  article: z.string(),
  text: z.string(),
});
const lawQuestion = z.object({ qid: z.number(), question: z.string(), gold: z.array(z.number()) });
const compoundQuestion = z.object({ parts: z.array(z.number()), question: z.string(), gold: z.array(z.number()) });
const titledTexts = z.array(z.object({ title: z.string(), text: z.string() }));
const sentencesByTitle = z.record(z.string(), z.array(z.string()));
const squad = z.object({
  data: z.array(
    z.object({
      title: z.string().optional(),
      paragraphs: z.array(
        z.object({ id: z.string(), context: z.string(), qas: z.array(z.object({ question: z.string() })) }),
      ),
    }),
  ),
});
const musique = z.array(
  z.object({
    question: z.string(),
    paragraphs: z.array(z.object({ title: z.string(), paragraph_text: z.string(), is_supporting: z.boolean() })),
    question_decomposition: z.array(
      z.object({ question: z.string(), answer: z.string(), paragraph_support_idx: z.number().nullable() }),
    ),
  }),
);
const hotpot = z.array(
  z.object({ question: z.string(), supporting_facts: z.array(z.tuple([z.string(), z.number()])) }),
);

/**
 * Reads a corpus: JSON lines of law articles (`.jsonl`, `.jsonl.gz`), a list of `{title, text}` (MuSiQue), an
 * object of titles to sentences (HotpotQA), or a SQuAD-like file. Throws BenchUsageError.
 */
export async function loadCorpus(file: string): Promise<CorpusParagraph[]> {
  const text = await readText(file);
  if (/\.jsonl(\.gz)?$/.test(file)) return jsonLines(text, lawArticle).map(lawParagraph);
  const value: unknown = JSON.parse(text);
  const list = titledTexts.safeParse(value);
  if (list.success) return list.data.map(({ title, text }) => titledParagraph(title, text));
  const questions = squad.safeParse(value);
  if (questions.success) return questions.data.data.flatMap((entry) => entry.paragraphs.map(squadParagraph));
  const byTitle = sentencesByTitle.safeParse(value);
  if (byTitle.success) return Object.entries(byTitle.data).map(([title, parts]) => hotpotParagraph(title, parts));
  throw new BenchUsageError(`${file} is no corpus of a known format.`);
}

/** Reads questions of the same data sets, MuSiQue and `compound2` with their steps. Throws BenchUsageError. */
export async function loadQuestions(file: string): Promise<BenchQuestion[]> {
  const text = await readText(file);
  if (/\.jsonl$/.test(file)) return lawQuestions(file, text);
  const value: unknown = JSON.parse(text);
  const multihop = musique.safeParse(value);
  if (multihop.success) return multihop.data.map(musiqueQuestion);
  const pairs = hotpot.safeParse(value);
  if (pairs.success) {
    return pairs.data.map(({ question, supporting_facts }) => ({
      question,
      gold: [...new Set(supporting_facts.map(([title]) => title))],
      steps: [],
    }));
  }
  const reading = squad.safeParse(value);
  if (reading.success) {
    return reading.data.data.flatMap((entry) =>
      entry.paragraphs.flatMap(({ id, qas }) => qas.map(({ question }) => ({ question, gold: [id], steps: [] }))),
    );
  }
  throw new BenchUsageError(`${file} holds no questions of a known format.`);
}

async function readText(file: string): Promise<string> {
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (error) {
    throw new BenchUsageError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  return (file.endsWith('.gz') ? await promisify(gunzip)(bytes) : bytes).toString('utf8');
}

function jsonLines<Schema extends z.ZodType>(text: string, schema: Schema): z.infer<Schema>[] {
  return (
    text
      .split('\n')
      .filter((line) => line.trim() !== '')
      // Written by Python, which knows NaN.
      .map((line) => schema.parse(JSON.parse(line.replace(/: NaN(?=[,}])/g, ': null'))))
  );
}

function lawParagraph({ id, law, date, chapter, article, text }: z.infer<typeof lawArticle>): CorpusParagraph {
  const title = [law, chapter, article].filter(Boolean).join(' ');
  return { key: String(id), document: date === '0000-00-00' ? law : `${law}(${date})`, title, content: text };
}

async function lawQuestions(file: string, text: string): Promise<BenchQuestion[]> {
  if (!/"parts"/.test(text.slice(0, 500))) {
    return jsonLines(text, lawQuestion).map(({ question, gold }) => ({ question, gold: gold.map(String), steps: [] }));
  }
  const parts = jsonLines(await readText(join(dirname(file), 'questions.jsonl')), lawQuestion);
  const byId = new Map(parts.map((part) => [part.qid, part]));
  return jsonLines(text, compoundQuestion).map((compound) => ({
    question: compound.question,
    gold: compound.gold.map(String),
    steps: compound.parts.flatMap((qid) => {
      const part = byId.get(qid);
      return part ? [{ question: part.question, gold: part.gold.map(String), dependsOn: [], answer: '' }] : [];
    }),
  }));
}

function titledParagraph(title: string, text: string): CorpusParagraph {
  return { key: titledKey(title, text), document: title, title, content: text };
}

function titledKey(title: string, text: string): string {
  return `${title}\n${text}`;
}

function squadParagraph({ id, context }: { id: string; context: string }): CorpusParagraph {
  return { key: id, document: id, title: '', content: context };
}

function hotpotParagraph(title: string, parts: readonly string[]): CorpusParagraph {
  return { key: title, document: title, title, content: parts.join('') };
}

function musiqueQuestion({
  question,
  paragraphs,
  question_decomposition,
}: z.infer<typeof musique>[number]): BenchQuestion {
  const keyOf = (index: number | null) => {
    const paragraph = index === null ? undefined : paragraphs[index];
    return paragraph ? [titledKey(paragraph.title, paragraph.paragraph_text)] : [];
  };
  return {
    question,
    gold: paragraphs
      .filter((paragraph) => paragraph.is_supporting)
      .map((paragraph) => titledKey(paragraph.title, paragraph.paragraph_text)),
    steps: question_decomposition.map((step) => ({
      question: step.question,
      gold: keyOf(step.paragraph_support_idx),
      dependsOn: [...step.question.matchAll(/#(\d+)/g)].map((match) => Number(match[1]) - 1),
      answer: step.answer,
    })),
  };
}
