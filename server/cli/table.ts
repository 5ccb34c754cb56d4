import stringWidth from 'string-width';
import { printable } from './printable.ts';

/**
 * Lines of a table whose columns align also where characters are two cells wide. Cells are cut to `maxWidth` cells
 * and made printable before they are measured.
 */
export function formatTable(rows: readonly (readonly string[])[], maxWidth = 48): string {
  const cut = rows.map((row) => row.map((cell) => cutTo(printable(cell.replace(/\s+/g, ' ')), maxWidth)));
  const columns = Math.max(0, ...cut.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, index) =>
    Math.max(0, ...cut.map((row) => stringWidth(row[index] ?? ''))),
  );
  return cut
    .map((row) =>
      row
        .map((cell, index) => cell + ' '.repeat((widths[index] ?? 0) - stringWidth(cell)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function cutTo(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let kept = '';
  for (const character of text) {
    if (stringWidth(kept + character) > width - 1) break;
    kept += character;
  }
  return `${kept}…`;
}
