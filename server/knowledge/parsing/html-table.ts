/** Cells of a table after merged ones were filled; every row has the same length. */
export interface TableGrid {
  readonly rows: readonly (readonly string[])[];
  /** A first row that is one cell across all columns: the name of the table. */
  readonly name: string;
}

/** A hostile page may claim 65,534 rows for a cell; no real table comes near these. */
const maxColumns = 200;
const maxCells = 200_000;
/** A merged cell is a value that holds for all it spans; longer text is prose and is not repeated across columns. */
const maxRepeatedLength = 200;

/** The rows of a table itself, without those of tables inside its cells. */
export function rowsOf(table: Element): Element[] {
  return [...table.querySelectorAll('tr')].filter((row) => row.closest('table') === table);
}

/** The cells of a row, in order. */
export function cellsOf(row: Element): Element[] {
  return [...row.children].filter((cell) => /^t[dh]$/i.test(cell.tagName));
}

/**
 * Lays a table out as a grid. `textOf`: the markdown of a cell, on one line. Merged cells (colspan, rowspan) are filled
 * with their text, rows without text are left out. Returns an empty grid for a table without text. Never throws.
 */
export function readTableGrid(table: Element, textOf: (cell: Element) => string): TableGrid {
  const grid: string[][] = [];
  const pending = new Map<number, { text: string; rows: number }>();
  let name = '';
  let cells = 0;
  const rows = rowsOf(table);
  for (const [index, row] of rows.entries()) {
    const own = cellsOf(row);
    const line = layOutRow(own, pending, textOf, rows.length - index);
    cells += line.length;
    if (cells > maxCells) break;
    if (line.every((text) => text === '')) continue;
    const spansAll = own.length === 1 && spanOf(own[0], 'colspan') > 1 && line.length > 1;
    if (spansAll && grid.length === 0 && name === '' && rows.length > 2) name = line[0] ?? '';
    else grid.push(line);
  }
  const width = Math.max(0, ...grid.map((line) => line.length));
  return { rows: grid.map((line) => [...line, ...Array<string>(width - line.length).fill('')]), name };
}

function layOutRow(
  cells: readonly Element[],
  pending: Map<number, { text: string; rows: number }>,
  textOf: (cell: Element) => string,
  rowsLeft: number,
): string[] {
  const line: string[] = [];
  const takePending = () => {
    for (let above = pending.get(line.length); above; above = pending.get(line.length)) {
      if (above.rows <= 1) pending.delete(line.length);
      else pending.set(line.length, { text: above.text, rows: above.rows - 1 });
      line.push(above.text);
    }
  };
  for (const cell of cells) {
    takePending();
    const text = textOf(cell);
    if (line.length >= maxColumns) line[maxColumns - 1] += ` ${text}`;
    const rowspan = cell.getAttribute('rowspan') === '0' ? rowsLeft : spanOf(cell, 'rowspan');
    const rows = Math.min(rowspan, rowsLeft);
    for (let span = spanOf(cell, 'colspan'), first = true; span > 0 && line.length < maxColumns; span -= 1) {
      const filled = first || text.length <= maxRepeatedLength ? text : '';
      if (rows > 1) pending.set(line.length, { text: filled, rows: rows - 1 });
      line.push(filled);
      first = false;
    }
  }
  takePending();
  return line;
}

function spanOf(cell: Element | undefined, attribute: 'colspan' | 'rowspan'): number {
  const span = Number.parseInt(cell?.getAttribute(attribute) ?? '1', 10);
  return Number.isNaN(span) || span < 1 ? 1 : span;
}

/** Writes a grid as a markdown table, its first row as header. Returns '' for an empty grid. */
export function writeMarkdownTable(grid: TableGrid): string {
  const [head, ...body] = grid.rows;
  if (!head || head.length === 0) return grid.name;
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const table = [line(head), line(head.map(() => '---')), ...body.map(line)].join('\n');
  return grid.name === '' ? table : `${grid.name}\n\n${table}`;
}
