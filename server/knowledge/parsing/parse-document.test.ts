import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import { parseDocument, supportedExtensions } from './parse-document.ts';
import { ParseError } from './parse-error.ts';

const parse = async (name: string, content: string | Uint8Array) =>
  parseDocument({ name, bytes: typeof content === 'string' ? Buffer.from(content) : content });

describe('parseDocument', () => {
  it('R3: decides by content, not by name', async () => {
    expect((await parse('a.txt', '<!DOCTYPE html><p>x</p>')).strategy).toBe('html');
    expect((await parse('a.txt', '\ufeff<?xml version="1.0"?>\n<!-- c --><html><body>x</body></html>')).strategy).toBe(
      'html',
    );
    expect((await parse('a.html', 'just text')).strategy).toBe('html');
    expect((await parse('a.md', '# x')).strategy).toBe('markdown');
    expect((await parse('README', 'x')).strategy).toBe('text');
  });

  it('lists the extensions it reads', () => {
    expect(supportedExtensions).toEqual(expect.arrayContaining(['.txt', '.md', '.html', '.docx', '.pdf']));
  });

  it('counts visible characters', async () => {
    expect(await parse('a.txt', ' 一 二\n\n三\u200b ')).toMatchObject({ characters: 3, pages: null, warnings: [] });
  });

  it('reads GB18030 text', async () => {
    expect((await parse('a.txt', iconv.encode('行政复议法全文', 'gb18030'))).text).toBe('行政复议法全文');
  });

  it('keeps markdown as it is', async () => {
    const text = '# A\n\n| a | b |\n| - | - |\n\n```\n# c\n```\n';

    expect((await parse('a.md', text)).text).toBe(text);
  });

  it.each([
    ['---\ntitle: "手册"\ntags: [x]\n---\n正文', '# 手册\n\n正文'],
    ['---\ntitle: Other\n---\n# Own\ntext', '# Own\ntext'],
    ['---\njust a rule\n---\ntext', '---\njust a rule\n---\ntext'],
  ])('handles front matter %j', async (text, expected) => {
    expect((await parse('a.md', text)).text).toBe(expected);
  });

  it.each([
    ['empty file', '', 'empty_document'],
    ['blank text', ' \n\u200b\ufeff\n', 'empty_document'],
    ['blank page', '<html><body><script>x</script></body></html>', 'empty_document'],
    ['a picture', '\x89PNG\r\n\x1a\n', 'unsupported_format'],
    ['a program', `MZ\x90\0${'\0'.repeat(100)}`, 'unsupported_format'],
    ['an archive', 'PK\x03\x04abc', 'unsupported_format'],
    ['rich text', '{\\rtf1 x}', 'unsupported_format'],
  ])('refuses %s that is named .txt', async (_, content, code) => {
    await expect(
      parse('a.txt', Buffer.from(content, content.includes('\u200b') ? 'utf8' : 'latin1')),
    ).rejects.toMatchObject({
      code,
      name: 'ParseError',
    });
  });

  it('never returns blank text and never throws anything but ParseError, whatever the bytes', async () => {
    const names = fc.constantFrom('a.txt', 'a.md', 'a.html', 'a.docx', 'a.pdf', 'a');
    const heads = fc.constantFrom(
      '',
      '<html>',
      'PK\x03\x04',
      '\xff\xfe',
      '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1',
      '<table><tr>',
    );
    await fc.assert(
      fc.asyncProperty(names, heads, fc.uint8Array({ maxLength: 300 }), async (name, head, tail) => {
        const result = await parse(name, Buffer.concat([Buffer.from(head, 'latin1'), tail])).catch(
          (error: unknown) => error,
        );
        if (result instanceof Error) expect(result).toBeInstanceOf(ParseError);
        else expect(result).toMatchObject({ characters: expect.any(Number) });
      }),
      { numRuns: 150 },
    );
  });

  it('replaces halves of emoji, which no database stores', async () => {
    const { text } = await parse('a.txt', Buffer.from([0xff, 0xfe, 0x61, 0, 0x3d, 0xd8, 0x62, 0]));

    expect(text).toBe('a\ufffdb');
  });

  it('runs inside a worker thread', async () => {
    const source = `
      const { parentPort, workerData } = require('node:worker_threads');
      import('tsx/esm/api').then(({ register }) => {
        register();
        return import(workerData.url);
      }).then(({ parseDocument }) => parseDocument({ name: 'a.html', bytes: Buffer.from('<h1>x</h1>') }))
        .then((parsed) => parentPort.postMessage(parsed.text), (error) => parentPort.postMessage(String(error)));`;
    const worker = new Worker(source, {
      eval: true,
      workerData: { url: new URL('./parse-document.ts', import.meta.url).href },
    });

    const answer = await new Promise((resolve) => worker.once('message', resolve));
    await worker.terminate();

    expect(answer).toBe('# x');
  });
});
