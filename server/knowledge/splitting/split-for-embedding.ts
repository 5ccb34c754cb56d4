const maxChunkLength = 256;

/** The `u` flag makes `.` a whole character, so that a chunk never ends inside an emoji. */
const markedRun = /.{1,256}[。| \\.！；;!\n]/gsu;
const anyRun = /.{1,256}/gsu;

/**
 * Cuts the text of a paragraph (title, newline, content) into the chunks that get a vector each.
 *
 * Returns trimmed, non-blank chunks of at most 257 characters: first all runs that end in a closing mark, then what was
 * left between and after them. Never throws. Source: maxkb-v1-api.md §8, golden-vectors.json "embedding_chunks".
 */
export function splitForEmbedding(text: string): string[] {
  const marked = text.match(markedRun) ?? [];
  const others = text.split(markedRun).flatMap((rest) => {
    if (rest.length < maxChunkLength) return [rest];
    return rest.match(anyRun) ?? [];
  });
  return [...marked, ...others].map((chunk) => chunk.trim()).filter((chunk) => chunk !== '');
}
