import { differingValues, isNamed, type Statement } from './statement.ts';
import { isApart, type SummaryItem, type WordCounts } from './supersede.ts';

/**
 * The items that `latest` may make untrue although its words do not say which: they give another value of the same kind
 * on something both name, or are the last to do so before a correction that names nothing, or name somebody whom it sees
 * off. They stay, but not as what holds now. `items`: what `latest` did not supersede. Pure; never throws.
 */
export function doubtfulItems(
  latest: SummaryItem,
  items: readonly SummaryItem[],
  { hasSuperseded, counts }: { hasSuperseded: boolean; counts: WordCounts },
): SummaryItem[] {
  if (latest.section === 'assistant') return [];
  const earlier = items.filter((item) => item.section !== 'source' && item.section !== 'open' && !item.isEarlier);
  const leaver = leaverOf(latest.statement.text);
  const found = earlier.filter(({ statement: old }) => {
    if (leaver !== '' && old.text.includes(leaver)) return true;
    return (
      mayStandFor(old, latest.statement) && isOnSame(old, latest.statement) && !isApart(old, latest.statement, counts)
    );
  });
  if (found.length > 0 || hasSuperseded || !latest.statement.isCorrecting) return found;
  return earlier.filter((item) => mayStandFor(item.statement, latest.statement)).slice(-1);
}

/** Somebody or something is out: who it is. */
const LEAVES =
  /(?:^|[，,。；;！!\s])(\p{Script=Han}{2,3}?)(?:下个?月|下周|下周[一二三四五]|月底|年底|明天|昨天|今天|马上|已经|已|要|将|会)?(?:离职|调走|调离|退休|退出|辞职|不干了)|(\p{Lu}[\p{L}'’]+)(?:\s\p{L}+){0,2}?\s(?:drop(?:s|ped)? out|pull(?:s|ed)? out|back(?:s|ed)? out|with(?:draws|drew|drawn)|resign(?:s|ed|ing)|retir(?:es|ed|ing)|quits?|leaving|left us)\b/u;

function leaverOf(text: string): string {
  const match = LEAVES.exec(text);
  return match?.[1] ?? match?.[2] ?? '';
}

/** One gives a value where the other gives another of the same kind, and none that both give. */
function mayStandFor(old: Statement, latest: Statement): boolean {
  return (
    differingValues(old, latest).length > 0 &&
    !old.values.some((value) => latest.values.some(({ key, kind }) => key === value.key && kind === value.kind))
  );
}

/** Share of the words by the values that both must name. */
const MIN_SHARE_ON_SAME = 0.6;

function isOnSame(old: Statement, latest: Statement): boolean {
  const shared = Math.max(
    [...old.core].filter((word) => isNamed(word, latest)).length,
    [...latest.core].filter((word) => isNamed(word, old)).length,
  );
  return shared > 0 && shared >= Math.min(old.core.size, latest.core.size) * MIN_SHARE_ON_SAME;
}
