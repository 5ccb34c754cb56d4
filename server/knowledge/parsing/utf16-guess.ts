/** Bytes looked at; enough to tell, and an even number so that pairs stay pairs. */
const sampleBytes = 16_384;
const minBytes = 8;

interface ParityShares {
  /** Shares of the bytes at even positions (0) and at odd positions (1). */
  readonly zero: readonly [number, number];
  readonly highByte: readonly [number, number];
  readonly kanaLead: readonly [number, number];
}

/**
 * Guesses whether bytes without a byte order mark are UTF-16. Latin text shows by its zero bytes. Chinese has few of
 * them, but one byte of each pair is nearly always the high byte of a Han character (4E–9F), of CJK punctuation (30), of a
 * full-width form (FF) or of ASCII (00), while the other byte is spread over all values.
 * Returns the encoding or null when neither test is clear. Never throws.
 */
export function guessUtf16(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  if (bytes.length < minBytes) return null;
  const { zero, highByte, kanaLead } = countShares(bytes.subarray(0, sampleBytes));
  if (zero[1] > 0.3 && zero[0] < 0.05) return 'utf-16le';
  if (zero[0] > 0.3 && zero[1] < 0.05) return 'utf-16be';
  if (bytes.length % 2 !== 0) return null;
  for (const parity of [1, 0] as const) {
    const other = parity === 1 ? 0 : 1;
    const isSpread = highByte[other] <= 0.7 && highByte[parity] - highByte[other] >= 0.3;
    // Shift_JIS also begins its characters with 81–9F, nearly half of them with 81–83 where kana and punctuation are.
    if (highByte[parity] >= 0.95 && isSpread && kanaLead[parity] < 0.25) return parity === 1 ? 'utf-16le' : 'utf-16be';
  }
  return null;
}

function countShares(bytes: Uint8Array): ParityShares {
  const counts = { zero: [0, 0], highByte: [0, 0], kanaLead: [0, 0] };
  const add = (list: number[], parity: number) => {
    list[parity] = (list[parity] ?? 0) + 1;
  };
  for (const [index, byte] of bytes.entries()) {
    const parity = index % 2;
    if (byte === 0) add(counts.zero, parity);
    if (byte === 0 || byte === 0x30 || byte === 0xff || (byte >= 0x4e && byte <= 0x9f)) add(counts.highByte, parity);
    if (byte >= 0x81 && byte <= 0x83) add(counts.kanaLead, parity);
  }
  const pairs = Math.max(1, bytes.length / 2);
  const share = (list: number[]) => [(list[0] ?? 0) / pairs, (list[1] ?? 0) / pairs] as const;
  return { zero: share(counts.zero), highByte: share(counts.highByte), kanaLead: share(counts.kanaLead) };
}
