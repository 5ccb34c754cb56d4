/**
 * Moves a cut position back by one when it would tear a surrogate pair apart. `position`: UTF-16 units, within `text`.
 * Returns `position` or `position - 1`; never throws.
 */
export function safeCut(text: string, position: number): number {
  const before = text.charCodeAt(position - 1);
  const after = text.charCodeAt(position);
  const isInsidePair = before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff;
  return isInsidePair ? position - 1 : position;
}

/**
 * Cuts text every `limit` UTF-16 units (≥ 2), one less where a surrogate pair would be torn.
 * Returns the pieces in order; joined they give `text`; an empty text gives no piece.
 */
export function cutEvery(text: string, limit: number): string[] {
  const pieces: string[] = [];
  for (let from = 0; from < text.length; ) {
    const to = from + limit >= text.length ? text.length : safeCut(text, from + limit);
    pieces.push(text.slice(from, to));
    from = to;
  }
  return pieces;
}

/** The lines of a text, each with its newline. Joined they give `text`; an empty text gives no line. */
export function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}
