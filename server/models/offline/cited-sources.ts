const LOCATOR =
  '(?:\\s*[（(]?(?:第\\s?[\\d〇零一二三四五六七八九十百千]+(?:\\.\\d+)*\\s?[条款章节页部分段]+(?:之\\d+)?|附[件录表]\\s?[\\dA-Za-z一二三四五六七八九十]*|[vV]\\d+(?:\\.\\d+)*|\\d{4}\\s?年?版)[）)]?){0,3}';
const LATIN_LOCATOR =
  '(?:,?\\s*\\(?(?:(?:section|sec\\.|§|chapter|ch\\.|clause|article|art\\.|page|pages|pp?\\.|appendix|annex|table|paragraph|para\\.|part|rev(?:ision)?\\.?|edition|version)\\s?[\\dA-Za-z]{1,6}(?:[.-]\\d+)*)\\)?){0,3}';
const CHINESE_TITLE = new RegExp(`《[^《》]{2,50}》${LOCATOR}`, 'gu');
const FILE = new RegExp(
  `[\\p{L}\\p{N}_\\-（()）.]{2,60}\\.(?:pdf|docx?|xlsx?|pptx?|md|txt|html?|csv)${LOCATOR}${LATIN_LOCATOR}`,
  'giu',
);
const NORM = new RegExp(
  `\\b(?:ISO|IEC|GB(?:/T)?|RFC|DIN|IEEE|NIST|EN|GDPR)(?:[ -]?(?:SP |/IEC )?\\d[\\d.-]{1,12}|(?= Art))${LOCATOR}${LATIN_LOCATOR}`,
  'gu',
);
const LINK = /https?:\/\/[^\s，。；、）)\]】]{4,150}/gu;
const NAMED_SOURCE =
  /(?:来源|出处|引自|摘自|参见|依据|根据)[：:\s]*(?!《)([\p{Script=Han}A-Za-z0-9（）()\-.·]{4,40}?(?:手册|办法|规定|制度|细则|指南|标准|报告|合同|协议|规范|白皮书|纪要|公告|通知|条例|法|表|文件|章程|方案)(?:第[\d一二三四五六七八九十百]+[条章节页])?)/gu;
const LATIN_SOURCE =
  /\b(?:[Ss]ources?|[Cc]ited from|[Aa]ccording to|[Ss]ee|[Pp]er|[Ff]rom|[Aa]s stated in|[Qq]uoted from|[Rr]eference|[Rr]ef\.?|[Bb]ased on|[Ss]et out in|[Ll]aid down in|[Ff]ound in|[Dd]efined in|[Gg]iven in|[Ii]n|[Bb]y|[Uu]nder|[Ff]ollows|[Ww]ith|[Oo]f|[Tt]o)?\s*:?\s*\b(?:the\s+)?["“']?((?:[A-Z][\w’'&-]*)(?:\s+(?:of|and|for|on|the|to|in|[A-Z0-9][\w’'&.-]*)){1,9})/gu;
const DOCUMENT_WORD =
  /\b(?:Handbook|Manual|Policy|Guide(?:line)?s?|Standard|Report|Agreement|Contract|Act|Code|Regulations?|Directive|Charter|Procedure|Specification|Memo|Minutes|Playbook|Plan|Framework|Rules|Schedule|Statement|Bulletin|Circular|Protocol|Register|Catalog(?:ue)?|White ?[Pp]aper|Runbook|Terms|Brief|Survey|Audit|Review|Checklist|Notice)\b/;

/** What a sentence cites by name, with its place in it: titles, files, links, documents after `source:` and the like. Never throws. */
export function citedSources(sentence: string): string[] {
  const found: string[] = [];
  for (const pattern of [CHINESE_TITLE, FILE, LINK, NORM])
    found.push(...[...sentence.matchAll(pattern)].map((match) => match[0].trim()));
  found.push(...[...sentence.matchAll(NAMED_SOURCE)].map((match) => match[1] ?? ''));
  for (const match of sentence.matchAll(LATIN_SOURCE)) {
    const name = (match[1] ?? '').replace(/(?:\s+(?:of|and|for|on|the|to|in))+$/, '').replace(/[.,]$/, '');
    const locator = locatorAfter(sentence, match.index + match[0].length);
    if (DOCUMENT_WORD.test(name) && (locator !== '' || /\s/.test(name))) found.push(name + locator);
  }
  return [...new Set(found)].filter(
    (source, _, all) => source !== '' && !all.some((other) => other !== source && other.includes(source)),
  );
}

function locatorAfter(sentence: string, at: number): string {
  return new RegExp(`^["”']?${LATIN_LOCATOR}`, 'iu').exec(sentence.slice(at, at + 60))?.[0].trimEnd() ?? '';
}
