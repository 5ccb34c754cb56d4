import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import { decodeText } from './decode-text.ts';

const simplified =
  '行政复议机关应当自受理申请之日起六十日内作出行政复议决定；但是法律另有规定的除外。\n第二条　情况复杂的，可以适当延长。\n';
const traditional =
  '這是一份繁體中文的文件，說明如何申請退貨與退款。請於七日內聯絡客服人員，並附上購買證明。\n謝謝您的支持與愛護。\n';
const japanese =
  'これは日本語の文書です。申し込みの方法について説明します。カタカナも使われています。\n東京都に住所がある方が対象です。\n';
const english = 'The quick brown fox jumps over the lazy dog.\nA second line of plain text.\n';
const russian = 'Привет, это документ на русском языке. Он описывает порядок подачи заявки.\n';
const korean =
  '이 문서는 한국어로 작성되었습니다. 신청 방법과 처리 기간을 설명합니다. 자세한 내용은 담당자에게 문의하십시오.\n';
const french =
  "L'élève a été reçu à l'école près de la forêt; c'était une journée très agréable, où naît l'été.\n".repeat(3);

describe('decodeText', () => {
  it.each([
    ['utf-8 with mark', simplified, 'utf8', { addBOM: true }],
    ['utf-8', simplified, 'utf8', {}],
    ['gb18030', simplified, 'gb18030', {}],
    ['gb18030, few characters', '第一章 总则\n', 'gb18030', {}],
    ['gb18030 between ascii', `id,name\n1,北京\n2,上海\n${'x'.repeat(200)}\n`, 'gb18030', {}],
    ['utf-16le with mark', simplified, 'utf-16le', { addBOM: true }],
    ['utf-16le without mark', simplified, 'utf-16le', {}],
    ['utf-16be with mark', simplified, 'utf-16be', { addBOM: true }],
    ['utf-16be without mark', simplified, 'utf-16be', {}],
    ['utf-16le without mark, latin', english, 'utf-16le', {}],
    ['utf-16be without mark, latin', english, 'utf-16be', {}],
    ['utf-16le without mark, mixed', `API 接口 v2\n${simplified}${english}`, 'utf-16le', {}],
    ['big5', traditional, 'big5', {}],
    ['shift_jis', japanese, 'shift_jis', {}],
    ['windows-1251', russian, 'windows-1251', {}],
    ['euc-kr', korean, 'euc-kr', {}],
    ['windows-1252', french, 'windows-1252', {}],
    ['ascii', english, 'ascii', {}],
  ])('R3: reads %s', async (_, text, encoding, options) => {
    const decoded = await decodeText(iconv.encode(text, encoding, options));

    expect(decoded.text).toBe(text);
    expect(decoded.damage).toBe(0);
  });

  it('honours a declared charset only for bytes that are not valid UTF-8', async () => {
    const wrong = await decodeText(Buffer.from(simplified), 'gb2312');
    const right = await decodeText(iconv.encode('短文', 'gbk'), 'gb2312');

    expect(wrong.text).toBe(simplified);
    expect(right.text).toBe('短文');
  });

  it('forgives a character that was cut off at the end', async () => {
    const decoded = await decodeText(Buffer.from(simplified).subarray(0, -3));

    expect(decoded.encoding).toBe('utf-8');
    expect(decoded.text.slice(0, 20)).toBe(simplified.slice(0, 20));
  });

  it('removes control characters and unifies line ends', async () => {
    const decoded = await decodeText(Buffer.from('a\0b\x07c\r\nd\re\tf\x7f'));

    expect(decoded.text).toBe('abc\nd\ne\tf');
  });

  it('reports binary data as damage', async () => {
    const bytes = Uint8Array.from({ length: 5000 }, (_, index) => (index * 7919 + (index >> 3) * 104_729) & 0xff);

    expect((await decodeText(bytes)).damage).toBeGreaterThan(0.03);
  });
});
