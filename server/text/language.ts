/** Whether a text is to be answered in Chinese: it holds a Han character. */
export function isChinese(text: string): boolean {
  return /\p{Script=Han}/u.test(text);
}
