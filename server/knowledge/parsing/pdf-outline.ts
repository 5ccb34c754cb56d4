import type { PDFDocumentProxy } from 'pdfjs-dist';
import type { OutlineEntry } from './pdf-headings.ts';

const maxEntries = 5000;
const maxDepth = 6;

type OutlineNode = Awaited<ReturnType<PDFDocumentProxy['getOutline']>>[number];

/**
 * Reads the outline (bookmarks) of a PDF, parents before children, at most 5,000 entries. Returns an empty list when
 * there is none or it is damaged: headings are then told by their size. Never throws.
 */
export async function readOutline(document: PDFDocumentProxy): Promise<OutlineEntry[]> {
  const entries: OutlineEntry[] = [];
  const visit = async (nodes: readonly OutlineNode[], depth: number): Promise<void> => {
    for (const node of nodes) {
      if (entries.length >= maxEntries) return;
      entries.push({ title: node.title, depth, page: await pageOf(document, node.dest) });
      if (depth + 1 < maxDepth) await visit(node.items, depth + 1);
    }
  };
  try {
    await visit((await document.getOutline()) ?? [], 0);
  } catch {
    return [];
  }
  return entries;
}

async function pageOf(document: PDFDocumentProxy, target: OutlineNode['dest']): Promise<number | null> {
  try {
    const destination = typeof target === 'string' ? await document.getDestination(target) : target;
    const [page] = destination ?? [];
    if (typeof page === 'number') return page;
    return page ? await document.getPageIndex(page) : null;
  } catch {
    return null;
  }
}
