/** Short names of laws that are no part of the full name. Source: common usage in Chinese legal writing. */
const ABBREVIATIONS: Readonly<Record<string, string>> = {
  民诉法: '民事诉讼法',
  刑诉法: '刑事诉讼法',
  行诉法: '行政诉讼法',
  治安处罚法: '治安管理处罚法',
  消法: '消费者权益保护法',
  消保法: '消费者权益保护法',
  劳动仲裁法: '劳动争议调解仲裁法',
  道交法: '道路交通安全法',
  土地法: '土地管理法',
  反法: '反不正当竞争法',
  证券基金法: '证券投资基金法',
};

/** `行政复议法(2023-09-01).md`, `章程（修订版）`: what names an edition or a file, not the text. */
const EXTENSION = /\.(?:md|markdown|txt|docx?|pdf|html?|epub|csv|xlsx?|pptx?)$/u;
const EDITION = /[(（][^()（）]*(?:\d{4}|试行|暂行|修订|修正|修改|草案|征求意见稿|版|稿|本)[^()（）]*[)）]\s*$/u;
const QUOTES = /[《》〈〉<>"“”「」『』]/gu;
const STATE = /中华人民共和国/gu;

/** Without file ending, quotation marks, spaces and 中华人民共和国, but with its edition. Never throws. */
export function strictLawName(name: string): string {
  const file = (name.normalize('NFKC').toLowerCase().split('/').at(-1) ?? '').trim().replace(EXTENSION, '');
  return file
    .replace(QUOTES, '')
    .replace(STATE, '')
    .replace(/[\s、,，:：。]+/gu, '');
}

/** Like `strictLawName`, also without edition and with abbreviations written out: 章程(试行) → 章程. Never throws. */
export function normalizeLawName(name: string): string {
  let plain = strictLawName(name);
  while (EDITION.test(plain)) plain = plain.replace(EDITION, '');
  return ABBREVIATIONS[plain] ?? plain;
}
