/**
 * A deterministic embedding for tests: a bag of tokens (words, Han characters and pairs of them) hashed into
 * `dimensions` places and brought to length 1, so that texts with common words are near each other.
 */
export function hashedEmbedding(text: string, dimensions: number): number[] {
  const vector = new Array<number>(dimensions).fill(0);
  for (const token of tokensOf(text)) {
    const hash = hashToken(token);
    const place = hash % dimensions;
    vector[place] = (vector[place] ?? 0) + ((hash >>> 16) % 2 === 0 ? 1 : -1);
  }
  const length = Math.hypot(...vector);
  // An empty text still needs a direction: the cosine of a zero vector is not a number.
  return length === 0 ? vector.map((_, i) => (i === 0 ? 1 : 0)) : vector.map((value) => value / length);
}

function tokensOf(text: string): string[] {
  const normal = text.normalize('NFKC').toLowerCase();
  const words = normal.match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.flatMap((word) => {
    if (!/\p{Script=Han}/u.test(word)) return [word];
    const characters = [...word];
    return [...characters, ...characters.slice(1).map((character, i) => `${characters[i]}${character}`)];
  });
}

/** FNV-1a, 32 bit. */
function hashToken(token: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(token)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}
