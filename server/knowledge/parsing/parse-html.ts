import { decodeText } from './decode-text.ts';
import { cleanHtml } from './html-cleaning.ts';
import { depthOf, plainTextOf } from './html-plain-text.ts';
import { htmlToMarkdown } from './html-to-markdown.ts';
import { ParseError } from './parse-error.ts';
import type { ParsedDocument } from './parsed-document.ts';

type ParsedHtml = Pick<ParsedDocument, 'text' | 'strategy' | 'pages' | 'warnings'>;

/** Readability is slow on large pages (it scores every element several times), and those are documents, not articles. */
const maxReadabilityLength = 2_000_000;
/** The article must keep this share of the text outside links, and of the tables, lists, code and headings. */
const minKeptShare = 0.9;
/** Measured: the stack ends between 500 and 2,000 levels. */
const maxDepth = 400;
const maxDamage = 0.03;
const charsetSniffBytes = 4096;
const structures = ['table', 'li', 'pre', 'dt', 'h1, h2, h3, h4, h5, h6'];

/**
 * Turns a web page into markdown. Navigation around an article is dropped when the article demonstrably keeps nearly all
 * text, tables and lists of the page; otherwise the whole body is kept. The page's title becomes a level-1 heading when it has none.
 *
 * `text` may be blank. Throws ParseError `unsupported_format` for binary data.
 */
export async function parseHtml(name: string, bytes: Uint8Array): Promise<ParsedHtml> {
  const { text: html, encoding, damage } = await decodeText(bytes, declaredCharset(bytes));
  if (damage > maxDamage) throw new ParseError('unsupported_format', `"${name}" holds binary data, not a web page`);
  const warnings = damage > 0.001 ? [`some characters could not be decoded as ${encoding}`] : [];
  const document = await openHtml(html);
  const title = document.title?.replace(/\s+/g, ' ').trim() ?? '';
  const body = document.body;
  if (depthOf(body) > maxDepth) {
    warnings.push('the page is nested too deeply; only its plain text was kept');
    return { text: plainTextOf(body), strategy: 'html', pages: null, warnings };
  }
  const images = cleanHtml(body);
  if (images > 0) warnings.push(`${images} embedded image(s) dropped`);
  const pageHeading = body.querySelector('h1')?.textContent?.replace(/\s+/g, ' ').trim();
  const main = html.length > maxReadabilityLength ? null : await findArticle(document);
  if (main && textLength(main) < textLength(body))
    warnings.push('navigation and other text around the article dropped');
  if (main) removeRepeatedHeading(main, pageHeading);
  const root = main ?? body;
  const heading = root.querySelector('h1')?.textContent?.trim() ? '' : pageHeading || title;
  const markdown = await htmlToMarkdown(root);
  const text = heading === '' ? markdown : `# ${heading}\n\n${markdown}`.trimEnd();
  return { text, strategy: 'html', pages: null, warnings };
}

/** Parses HTML, whole pages and fragments. Scripts are not run and nothing is loaded. Never throws. */
export async function openHtml(html: string): Promise<Document> {
  const { parseHTML } = await import('linkedom');
  const hasRoot = /<html[\s>]/i.test(html);
  const page = hasRoot && /<body[\s>]/i.test(html) ? html : wrapInBody(html);
  return parseHTML(page).document;
}

/** linkedom invents no body, and takes the first element of a fragment for the document. */
function wrapInBody(html: string): string {
  const title = /<title[^>]*>[^<]*<\/title>/i.exec(html)?.[0] ?? '';
  const content = html
    .replace(/<!doctype[^>]*>|<\?xml[^>]*\?>|<\/?(?:html|head|body)(?:\s[^>]*)?>/gi, '')
    .replace(title, () => '');
  return `<!DOCTYPE html><html><head>${title}</head><body>${content}</body></html>`;
}

function declaredCharset(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, charsetSniffBytes)).toString('latin1');
  return (
    /<meta[^>]+charset\s*=\s*["']?\s*([\w.:-]+)/i.exec(head)?.[1] ??
    /<\?xml[^>]+encoding=["']([\w.:-]+)/.exec(head)?.[1]
  );
}

async function findArticle(document: Document): Promise<Element | null> {
  const { Readability } = await import('@mozilla/readability');
  const copy = await openHtml(document.toString());
  const article = new Readability(copy, { keepClasses: true, charThreshold: 200 }).parse();
  if (!article?.content) return null;
  const element = (await openHtml(article.content)).body;
  return keepsNearlyAll(element, document.body) ? element : null;
}

/** Readability makes a level-2 heading of the page's level-1 heading, which is put in front again. */
function removeRepeatedHeading(article: Element, heading: string | undefined): void {
  const first = article.querySelector('h2');
  if (heading && first?.textContent?.replace(/\s+/g, ' ').trim() === heading) first.remove();
}

function keepsNearlyAll(article: Element, body: Element): boolean {
  if (textOutsideLinks(article) < textOutsideLinks(body) * minKeptShare) return false;
  return structures.every((selector) => {
    const count = (root: Element) =>
      [...root.querySelectorAll(selector)].filter((element) => textOutsideLinks(element) > 0).length;
    return count(article) >= count(body) * minKeptShare;
  });
}

function textOutsideLinks(element: Element): number {
  const links = [...element.querySelectorAll('a')].reduce((sum, link) => sum + textLength(link), 0);
  return textLength(element) - links;
}

function textLength(element: Element): number {
  return element.textContent?.replace(/\s+/g, '').length ?? 0;
}
