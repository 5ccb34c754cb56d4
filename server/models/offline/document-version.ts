/** A document name without its version, and the version as a sortable text; empty where it has none. */
export interface DocumentVersion {
  base: string;
  version: string;
}

const DATE = /[（(【[_\-\s]*((?:19|20)\d{2})[-_.年]?(\d{1,2})?[-_.月]?(\d{1,2})?日?(?:修订|修正|版)?[)）】\]]*/u;
const EXTENSION = /\.[a-z0-9]{1,5}$/i;

/** Takes a date out of a name, as in "行政复议法(2023-09-01).md". Never throws. */
export function documentVersion(name: string): DocumentVersion {
  const stem = name.replace(EXTENSION, '');
  const match = DATE.exec(stem);
  if (!match) return { base: stem.trim(), version: '' };
  const [whole, year = '', month = '', day = ''] = match;
  return {
    base: stem.replace(whole, '').trim(),
    version: [year, month.padStart(2, '0'), day.padStart(2, '0')].join('-'),
  };
}

/**
 * Names among `names` that a later version of the same document replaces. A question that names a year, or
 * asks for the old text, means what it says: then nothing is superseded.
 */
export function supersededDocuments(names: readonly string[], question: string): Set<string> {
  if (/(?<!\d)(?:19|20)\d{2}(?![\d元])|旧|原来|修订前|修正前|\b(?:previous|former|old)\b/iu.test(question))
    return new Set();
  const newest = new Map<string, string>();
  for (const name of names) {
    const { base, version } = documentVersion(name);
    if (version > (newest.get(base) ?? '')) newest.set(base, version);
  }
  return new Set(
    names.filter((name) => {
      const { base, version } = documentVersion(name);
      return version !== '' && version < (newest.get(base) ?? '');
    }),
  );
}
