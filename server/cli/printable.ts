/**
 * A text that is safe to print: without control characters other than line end and tab. What documents and models
 * say could otherwise move the cursor, rewrite lines or talk to the terminal.
 */
export function printable(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]/gu, '');
}

/** JSON on one line that parses to exactly `value`; the control characters JSON would leave as they are, escaped. */
export function printableJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007f-\u009f]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
