/** A question is one part for each thing it asks. More than this many parts is a list, not a question. */
const MAX_PARTS = 8;

/** Where one part ends and the next begins, beside question marks. */
const CONNECTORS = /(?:[，,；;。]\s*)?(?:另外|此外|同时|以及|并且|还有|再者)[，,、：:]?\s*(?=[^？?]*[？?]?$)/u;
const ENGLISH_CONNECTORS =
  /[,;]?\s+(?:and|also|as well as)\s+(?=(?:also\s+)?(?:who|what|when|where|which|why|how|is|are|was|were|does|do|did|can|should)\b)/i;

/** "A和B分别…": the same is asked of both. */
const RESPECTIVELY =
  /^(.*?)([\p{Script=Han}A-Za-z0-9]{2,12})(?:和|与|、|及)([\p{Script=Han}A-Za-z0-9]{2,12}?)(?:各自)?分别(.+)$/u;

/**
 * Cuts a question into the parts that each want an answer of their own, in order, without duplicates. A
 * question without any seam is one part. Never empty unless the question is blank; never throws.
 */
export function splitQuestion(question: string): string[] {
  const sentences = question
    .split(/(?<=[？?])|[\n；;]+/u)
    .flatMap(splitAtConnector)
    .flatMap(splitRespectively)
    .map((part) => part.replace(/^[\s，,。；;、：:？?]+|[\s，,；;、]+$/gu, ''))
    .filter((part) => part.replace(/[\s\p{P}]/gu, '').length > 1);
  const parts = mergeStatements(sentences);
  const unique = [...new Set(parts)].slice(0, MAX_PARTS);
  return unique.length > 0 || question.trim() === '' ? unique : [question.trim()];
}

function splitAtConnector(sentence: string): string[] {
  const pieces = sentence.split(CONNECTORS).flatMap((piece) => piece.split(ENGLISH_CONNECTORS));
  // A seam that leaves a scrap ("以及" inside a list of nouns) is no seam.
  return pieces.every((piece) => piece.trim().length >= 6 || piece.trim() === '') ? pieces : [sentence];
}

function splitRespectively(sentence: string): string[] {
  const match = RESPECTIVELY.exec(sentence);
  if (!match) return [sentence];
  const [, before = '', first = '', second = '', rest = ''] = match;
  return [`${before}${first}${rest}`, `${before}${second}${rest}`];
}

/** "我昨天收到罚单。能复议吗？": a statement before a question is its setting, not a part. */
function mergeStatements(sentences: readonly string[]): string[] {
  if (!sentences.some((sentence) => /[？?]$/.test(sentence))) return [...sentences];
  const parts: string[] = [];
  let setting = '';
  for (const sentence of sentences) {
    if (/[？?]$/.test(sentence) || isQuestion(sentence)) {
      parts.push(`${setting}${sentence}`);
      setting = '';
    } else {
      setting += `${sentence} `;
    }
  }
  return parts;
}

function isQuestion(sentence: string): boolean {
  return /什么|怎么|如何|是否|多少|多久|哪|谁|几|吗$|呢$|\b(?:who|what|when|where|which|why|how)\b/iu.test(sentence);
}
