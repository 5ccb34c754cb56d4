import type TurndownService from 'turndown';
import { readTableGrid, writeMarkdownTable } from './html-table.ts';
import { prepareTables } from './html-table-layout.ts';

/**
 * Writes an element as markdown: ATX headings, fenced code, pipe tables (also those without a header row; merged cells
 * filled), `- ` lists. `root` is changed. Links that lead nowhere outside the document keep only their text.
 * Throws RangeError for a document nested too deeply for the stack.
 */
export async function htmlToMarkdown(root: Element): Promise<string> {
  const { default: Turndown } = await import('turndown');
  const service = new Turndown({ headingStyle: 'atx', codeBlockStyle: 'fenced', hr: '---', emDelimiter: '*', br: '' });
  // Full escaping (`snake\_case`, `1\.`) would be found by no search; only what would turn into a heading is escaped.
  service.escape = (text) => text.replace(/^(\s*)(#{1,6}\s)/, '$1\\$2');
  addBlockRules(service);
  addInlineRules(service);
  addTableRules(service);
  prepareTables(root);
  // Turndown clones what it gets and uses only DOM methods, so an element of linkedom is as good as one of a browser.
  const markdown = service.turndown(root as HTMLElement);
  return markdown
    .replace(/[^\S\n]+$/gm, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

function isInCell(node: Node): boolean {
  return (node as Element).closest?.('td, th') !== null;
}

function addBlockRules(service: TurndownService): void {
  service.addRule('heading', {
    filter: ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'],
    replacement: (content, node) => {
      const text = content.replace(/\s+/g, ' ').trim();
      if (text === '') return '';
      return isInCell(node) ? `\n\n${text}\n\n` : `\n\n${'#'.repeat(Number(node.nodeName.slice(1)))} ${text}\n\n`;
    },
  });
  service.addRule('listItem', {
    filter: 'li',
    replacement: (content, node) => {
      const mark = listMark(node as Element);
      const text = content.trim().replace(/\n{2,}(?=\s*(?:[-*]|\d+\.) )/g, '\n');
      // An item that only holds a deeper list: Word skips levels, which HTML cannot.
      if (/^(?:ul|ol)$/i.test(node.firstChild?.nodeName ?? '')) return `${text}\n`;
      return `${mark}${text.replace(/\n(?=.)/g, `\n${' '.repeat(mark.length)}`)}\n`;
    },
  });
  service.addRule('code', {
    filter: 'pre',
    replacement: (_, node) => {
      const code = (node.textContent ?? '').replace(/^\n|\s+$/g, '');
      if (isInCell(node)) return `\n${code}\n`;
      const fence = '`'.repeat(Math.max(3, ...(code.match(/`{3,}/g) ?? []).map((marks) => marks.length + 1)));
      return `\n\n${fence}${codeLanguage(node as Element)}\n${code}\n${fence}\n\n`;
    },
  });
}

function listMark(item: Element): string {
  const list = item.parentElement;
  if (list?.tagName.toLowerCase() !== 'ol') return '- ';
  const start = Number.parseInt(list.getAttribute('start') ?? '1', 10);
  const items = [...list.children].filter((child) => child.tagName.toLowerCase() === 'li');
  return `${(Number.isNaN(start) ? 1 : start) + items.indexOf(item)}. `;
}

function codeLanguage(pre: Element): string {
  const classes = `${pre.getAttribute('class') ?? ''} ${pre.querySelector('code')?.getAttribute('class') ?? ''}`;
  return /(?:language|lang|highlight-source)-([\w+#-]+)/.exec(classes)?.[1] ?? '';
}

function addInlineRules(service: TurndownService): void {
  service.addRule('link', {
    filter: 'a',
    replacement: (content, node) => {
      const href = (node as Element).getAttribute('href')?.trim() ?? '';
      const text = content.trim();
      if (text === '' || !/^(?:https?:|mailto:|ftp:)/i.test(href)) return content;
      // A block inside a link cannot be written inside brackets.
      return text.includes('\n') ? content : `[${text}](${href.replace(/[()\s]/g, encodeURIComponent)})`;
    },
  });
  service.addRule('image', {
    filter: 'img',
    replacement: (_, node) => {
      const alt = (node as Element).getAttribute('alt')?.replace(/\s+/g, ' ').trim() ?? '';
      const source = (node as Element).getAttribute('src')?.trim() ?? '';
      if (!/^https?:/i.test(source)) return alt;
      return `![${alt}](${source.replace(/[()\s]/g, encodeURIComponent)})`;
    },
  });
  service.addRule('strikethrough', { filter: ['del', 's'], replacement: (content) => `~~${content}~~` });
  service.addRule('checkbox', {
    filter: 'input',
    replacement: (_, node) => ((node as Element).hasAttribute('checked') ? '[x] ' : '[ ] '),
  });
}

function addTableRules(service: TurndownService): void {
  // Cells are converted before their table, so the table finds its cells' markdown here instead of converting it again.
  const cellTexts = new Map<Node, string>();
  const captions = new Map<Node, string>();
  service.addRule('cell', {
    filter: ['td', 'th'],
    replacement: (content, node) => {
      cellTexts.set(node, toCellText(content));
      return ` ${content}`;
    },
  });
  service.addRule('caption', {
    filter: 'caption',
    replacement: (content, node) => {
      if (node.parentNode) captions.set(node.parentNode, content.trim());
      return '';
    },
  });
  service.addRule('table', {
    filter: 'table',
    replacement: (_, node) => {
      const caption = captions.get(node) ?? '';
      const grid = readTableGrid(node as Element, (cell) => cellTexts.get(cell) ?? '');
      return `\n\n${caption}\n\n${writeMarkdownTable(grid)}\n\n`;
    },
  });
}

function toCellText(content: string): string {
  return content
    .trim()
    .replace(/\s*\n\s*/g, '<br>')
    .replace(/(?<!\\)\|/g, '\\|');
}
