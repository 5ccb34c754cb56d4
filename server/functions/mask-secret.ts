const STARS = '*'.repeat(15);

/**
 * Shows enough of a secret to tell it from another: the first min(8, ⌊2n/5⌋) characters, at least one, fifteen stars, and
 * the last four, or ⌊n/5⌋ where fewer than four lead. An empty one stays empty. Source: maxkb-v1-api.md section 2.8.
 */
export function maskSecret(secret: string): string {
  const characters = [...secret];
  const count = characters.length;
  if (count === 0) return '';
  const leading = Math.max(1, Math.min(8, Math.floor((count * 2) / 5)));
  const trailing = leading < 4 ? Math.floor(count / 5) : 4;
  return `${characters.slice(0, leading).join('')}${STARS}${characters.slice(count - trailing).join('')}`;
}

/** True for text in the shape of a mask, whichever secret it may hide. */
export function looksMasked(text: string): boolean {
  return text.includes(STARS);
}
