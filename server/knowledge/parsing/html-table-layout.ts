import { cellsOf, rowsOf } from './html-table.ts';

/** Above this a cell is a column of a page, not a value. */
const maxValueLength = 2000;
const maxBoxLength = 1000;

/**
 * Makes every table fit for markdown: text that stands between rows is moved in front of its table, tables that only
 * arrange a page become plain blocks, and a table inside a cell becomes lines of text. `root` is changed. Never throws.
 */
export function prepareTables(root: Element): void {
  const document = root.ownerDocument;
  for (const table of root.querySelectorAll('table')) moveStrayContent(table);
  // Outer tables come first in document order, so a layout table is gone before its inner tables are looked at.
  for (const table of root.querySelectorAll('table')) {
    if (isLayout(table)) unwrapTable(table, document);
  }
  // Inner ones first: each is plain text by the time its outer table is flattened.
  for (const table of [...root.querySelectorAll('table')].reverse()) {
    if (table.parentElement?.closest('table')) flattenTable(table, document);
  }
}

/** Invalid but common: text or headings directly inside table or tr, which no cell would carry into the output. */
function moveStrayContent(table: Element): void {
  const parts = [table, ...table.querySelectorAll('thead, tbody, tfoot, tr')].filter(
    (part) => part.closest('table') === table,
  );
  for (const part of parts) {
    for (const child of [...part.childNodes]) {
      const name = child.nodeName.toLowerCase();
      if (/^(?:caption|colgroup|col|thead|tbody|tfoot|tr|td|th)$/.test(name)) continue;
      if (child.textContent?.trim()) table.parentNode?.insertBefore(child, table);
    }
  }
}

function isLayout(table: Element): boolean {
  if (/^(?:presentation|none)$/.test(table.getAttribute('role') ?? '')) return true;
  const rows = rowsOf(table).map(cellsOf);
  const cells = rows.flat();
  if (rows.length === 1 && cells.length === 1) return true;
  if (cells.some((cell) => cell.tagName.toLowerCase() === 'th')) return false;
  const length = (element: Element) => element.textContent?.trim().length ?? 0;
  if (rows.every((row) => row.length <= 1)) {
    return table.querySelector('table, h1, h2, h3, h4, h5, h6, pre') !== null || length(table) > maxBoxLength;
  }
  return cells.some((cell) => {
    const inner = cell.querySelectorAll('table').length;
    return inner > 1 || (inner === 1 && length(cell) > maxValueLength);
  });
}

function unwrapTable(table: Element, document: Document): void {
  const box = document.createElement('div');
  const caption = [...table.children].find((child) => child.tagName.toLowerCase() === 'caption');
  for (const cell of [...(caption ? [caption] : []), ...rowsOf(table).flatMap(cellsOf)]) {
    const part = document.createElement('div');
    part.append(...cell.childNodes);
    box.append(part);
  }
  table.replaceWith(box);
}

function flattenTable(table: Element, document: Document): void {
  const box = document.createElement('div');
  for (const row of rowsOf(table)) {
    const line = document.createElement('div');
    for (const cell of cellsOf(row)) line.append(...cell.childNodes, ' ');
    box.append(line);
  }
  table.replaceWith(box);
}
