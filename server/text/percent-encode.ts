/** Every byte but letters, digits and `-._~` as `%XX` (RFC 3986); encodeURIComponent leaves `!'()*` as well. Never throws. */
export function percentEncode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
