/** Words that ask or hedge; no document says them where it answers. English ones are stems. */
const ASKING_WORDS = new Set(
  `多久 多长 长时间 多少 多少钱 几天 几日 几年 几个 何时 何人 何处 时候 什么时候 一般 通常 一般来说 大概 大约 分别 请问
  long mani much often usual general exact kind sort sai state tell describ explain`.split(/\s+/),
);

/** Whether a content word only asks. */
export function isAskingWord(word: string): boolean {
  return ASKING_WORDS.has(word);
}
