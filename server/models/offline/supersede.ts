import { differingValues, givesAllOf, hardValues, isNamed, type Statement } from './statement.ts';
import { isSameKind, isSameValue, type StatedValue } from './statement-values.ts';
import type { SummarySection } from './summary-form.ts';

/** A line of the summary in the making. `place`: counts up, so that a larger one was said later. */
export interface SummaryItem {
  section: SummarySection;
  statement: Statement;
  place: number;
  /** Something said later may have corrected it. */
  isEarlier: boolean;
}

/** Share of an old statement's subject that a later correction must name where each also names something else. */
const MIN_SHARE_LOOSE = 0.6;
/** Share of the longer subject that both must name where a plain statement is the same thing said anew. */
const MIN_SHARE_RESTATED = 0.6;

/** In how many items each subject word stands: one that recurs tells things apart, one that does not may be chance. */
export type WordCounts = ReadonlyMap<string, number>;

export function countWords(items: readonly SummaryItem[]): WordCounts {
  const counts = new Map<string, number>();
  for (const { section, statement } of items) {
    if (section === 'assistant' || section === 'source') continue;
    for (const word of statement.subject) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return counts;
}

/**
 * The items that `latest` makes untrue. A correction takes the place of what it names as replaced, and of the statement
 * on the same subject with another value; a plain statement only where nothing else tells the two apart. What repeats
 * a value that went with them goes too. Pure; never throws.
 */
export function supersededItems(latest: SummaryItem, items: readonly SummaryItem[], counts: WordCounts): SummaryItem[] {
  const gone = latest.statement.isCorrecting
    ? correctedItems(latest, items, counts)
    : items.filter((item) => isRestated(item, latest, counts));
  if (gone.length === 0 && latest.statement.replaced.length === 0) return [];
  const oldValues = [
    ...latest.statement.replaced,
    ...gone.flatMap(({ statement }) => differingValues(statement, latest.statement)),
  ];
  const named = new Set(gone.flatMap(({ statement }) => [...statement.subject]).concat([...latest.statement.subject]));
  const repeating = items.filter((item) => !gone.includes(item) && repeats(item, { oldValues, named, latest }));
  return [...gone, ...repeating];
}

/** Whether an answer says something that the user has since put differently, or repeats what is known already. */
export function isStaleAnswer(answer: SummaryItem, items: readonly SummaryItem[]): boolean {
  return items.some((item) => {
    if (item.section !== 'user' && item.section !== 'correction') return false;
    const known = item.statement;
    if (known.replaced.some((old) => gives(answer.statement, old) && !givesAny(answer.statement, known.values)))
      return true;
    if (known.replacedPhrases.some((phrase) => answer.statement.text.toLowerCase().includes(phrase))) return true;
    if (sharesSubject(answer.statement, known) && givesAllOf(known, answer.statement)) return true;
    return differingValues(answer.statement, known).length > 0 && isSameSubject(answer.statement, known);
  });
}

function correctedItems(latest: SummaryItem, items: readonly SummaryItem[], counts: WordCounts): SummaryItem[] {
  const { statement } = latest;
  const candidates = items.filter((item) => mayCorrect(latest, item));
  const named = candidates.filter((item) => namesReplaced(statement, item.statement));
  const fitting = candidates.filter((item) => hasSlotOf(item.statement, statement));
  const exact = exactly(fitting, latest, counts);
  const shared = (item: SummaryItem) => countShared(item.statement, statement);
  const most = Math.max(0, ...[...named, ...exact].map(shared));
  if (most === 0 && named.length === 0) return closest(fitting, statement, counts);
  return [...new Set([...named, ...exact.filter((item) => shared(item) === most)])];
}

/** What the latest names in full; else, where it says less than was said before, the last such statement. */
function exactly(items: readonly SummaryItem[], latest: SummaryItem, counts: WordCounts): SummaryItem[] {
  const alike = items.filter((item) => !isApart(item.statement, latest.statement, counts));
  const full = alike.filter((item) => isWithin(item.statement.core, latest.statement));
  if (full.length > 0) return full;
  return alike.filter((item) => isWithin(latest.statement.core, item.statement)).slice(-1);
}

function isWithin(core: ReadonlySet<string>, within: Statement): boolean {
  return core.size > 0 && [...core].every((word) => isNamed(word, within));
}

/** Where nothing fits exactly: what fits best, unless words that recur tell the two apart. */
function closest(items: readonly SummaryItem[], latest: Statement, counts: WordCounts): SummaryItem[] {
  const shares = items
    .filter((item) => !isApart(item.statement, latest, counts) && namesHead(item.statement, latest))
    .map((item) => ({ item, share: share(item.statement, latest, counts) }))
    .filter((entry) => entry.share >= MIN_SHARE_LOOSE);
  const best = Math.max(...shares.map((entry) => entry.share));
  if (shares.length === 0) return standingOut(items, latest, counts);
  return shares.filter((entry) => entry.share === best).map((entry) => entry.item);
}

/** Most of the words that were ever used of something else here, and more of them than any other item has. */
const MIN_SHARE_STANDING_OUT = 0.7;

/** The one item that shares more with the latest than all others, whatever else the two say. */
function standingOut(items: readonly SummaryItem[], latest: Statement, counts: WordCounts): SummaryItem[] {
  const known = [...latest.subject].filter((word) => counts.has(word)).length;
  const ranked = items
    .filter((item) => namesHead(item.statement, latest))
    .map((item) => ({ item, shared: countShared(item.statement, latest) }))
    .sort((a, b) => b.shared - a.shared);
  const [first, second] = ranked;
  if (!first || first.shared < 2 || first.shared < known * MIN_SHARE_STANDING_OUT) return [];
  return second?.shared === first.shared ? [] : [first.item];
}

/** An assistant corrects only itself; a user anybody. */
function mayCorrect(latest: SummaryItem, item: SummaryItem): boolean {
  if (item.section === 'source' || item.section === 'open') return false;
  return latest.section !== 'assistant' || item.section === 'assistant';
}

function namesReplaced(latest: Statement, old: Statement): boolean {
  if (!sharesSubject(latest, old) && latest.subject.size > 0 && old.subject.size > 0) return false;
  const isOld = latest.replaced.some((value) => gives(old, value));
  const text = old.text.toLowerCase();
  return (
    (isOld && !givesAny(old, hardValues(latest.values))) ||
    latest.replacedPhrases.some((phrase) => text.includes(phrase))
  );
}

/** Whether the old statement has something that the values of the latest could stand in place of. */
function hasSlotOf(old: Statement, latest: Statement): boolean {
  const [oldHard, latestHard] = [hardValues(old.values), hardValues(latest.values)];
  if (latestHard.length > 0) return differingValues(old, latest).length > 0;
  if (oldHard.length > 0) return false;
  // Whoever it is now takes the place of somebody, not of a rule or a plan.
  return (
    latest.values.length === 0 ||
    old.values.length > 0 ||
    isWithin(latest.core, old) ||
    /[是为叫由找任归]|：/u.test(old.text)
  );
}

function isRestated(item: SummaryItem, latest: SummaryItem, counts: WordCounts): boolean {
  if (item.section === 'assistant' && latest.section === 'assistant')
    return isSameForm(item.statement, latest.statement);
  return (
    mayCorrect(latest, item) &&
    isSameSubject(item.statement, latest.statement) &&
    !isApart(item.statement, latest.statement, counts)
  );
}

/** Answers that say the same of something by other numbers: the newest stands for all. */
function isSameForm(old: Statement, latest: Statement): boolean {
  return (
    differingValues(old, latest).length > 0 &&
    (isWithin(old.core, latest) || isWithin(latest.core, old)) &&
    countShared(old, latest) >= Math.max(old.core.size, latest.core.size) * MIN_SHARE_RESTATED
  );
}

/** The same thing said again with another value: nothing but words of no weight tells the two apart. */
function isSameSubject(old: Statement, latest: Statement): boolean {
  if (differingValues(old, latest).length === 0) return isOtherHolder(old, latest);
  const isAll = isWithin(old.subject, latest) || isWithin(latest.subject, old);
  return isAll && countShared(old, latest) >= Math.max(old.subject.size, latest.subject.size) * MIN_SHARE_RESTATED;
}

/** `The owner is A`, then `the owner is B`: a role that one holds, with nothing else to tell the two apart. */
function isOtherHolder(old: Statement, latest: Statement): boolean {
  if (hardValues([...old.values, ...latest.values]).length > 0 || givesAny(old, latest.values)) return false;
  if (old.values.length === 0 || latest.values.length === 0 || !ROLE.test(old.text) || !ROLE.test(latest.text))
    return false;
  return old.subject.size === latest.subject.size && isWithin(old.subject, latest);
}

const ROLE = /\b(?:the|our|my)\b.{2,60}?(?:\bis\b|:)|(?:的.{1,8}|人|经理|主管|组长)(?:是|为|叫|：)/iu;

/** In Chinese what a value is of stands right before it: 培训日 is not 上线日, of whatever they are. */
function namesHead(old: Statement, latest: Statement): boolean {
  if (!/\p{Script=Han}/u.test(old.text) || old.head === '' || latest.head === '') return true;
  return isNamed(old.head, latest) || isNamed(latest.head, old);
}

/** Each names something that recurs and the other does not: two subjects of one kind, such as two offices. */
export function isApart(old: Statement, latest: Statement, counts: WordCounts): boolean {
  const tells = (word: string, other: Statement) =>
    !isNamed(word, other) && (word.startsWith('#') || (counts.get(word) ?? 0) >= 2);
  return [...old.subject].some((word) => tells(word, latest)) && [...latest.subject].some((word) => tells(word, old));
}

/** Share of `of`'s subject that `within` names too; a word met once counts half. */
function share(of: Statement, within: Statement, counts: WordCounts): number {
  let total = 0;
  let shared = 0;
  for (const word of of.subject) {
    const isShared = isNamed(word, within);
    const weight = isShared || (counts.get(word) ?? 0) >= 2 ? 1 : 0.5;
    total += weight;
    if (isShared) shared += weight;
  }
  return total === 0 ? 0 : shared / total;
}

function countShared(a: Statement, b: Statement): number {
  return [...a.subject].filter((word) => isNamed(word, b)).length;
}

function repeats(
  item: SummaryItem,
  { oldValues, named, latest }: { oldValues: readonly StatedValue[]; named: ReadonlySet<string>; latest: SummaryItem },
): boolean {
  if (!mayCorrect(latest, item) || givesAny(item.statement, hardValues(latest.statement.values))) return false;
  if (!oldValues.some((value) => isTelling(value) && gives(item.statement, value))) return false;
  return item.section === 'assistant' || [...item.statement.subject].filter((word) => named.has(word)).length >= 2;
}

/** A value that hardly comes up twice by chance. */
function isTelling(value: StatedValue): boolean {
  return value.kind !== 'number' || /\d\D*\d/.test(value.key) || value.unit !== '';
}

function sharesSubject(a: Statement, b: Statement): boolean {
  return [...a.subject].some((word) => b.subject.has(word));
}

function gives(statement: Statement, value: StatedValue): boolean {
  return [...statement.values].some((other) => isSameKind(other, value) && isSameValue(other, value));
}

function givesAny(statement: Statement, values: readonly StatedValue[]): boolean {
  return values.some((value) => gives(statement, value));
}
