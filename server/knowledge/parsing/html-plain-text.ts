const blocks =
  /^(?:address|article|blockquote|br|caption|dd|div|dl|dt|h[1-6]|hr|li|main|ol|p|pre|section|table|tr|ul)$/;
const cells = /^t[dh]$/;
const skipped = /^(?:script|style|noscript|template|nav|svg)$/;

/** Depth of an element tree, 1 for an element without children. Needs no stack. Never throws. */
export function depthOf(root: Node): number {
  let deepest = 0;
  walk(root, (_, depth) => {
    deepest = Math.max(deepest, depth);
    return true;
  });
  return deepest;
}

/**
 * The text of a page with a line for each block, for pages nested too deeply for anything that needs the stack: an old
 * page that never closes its font tags is one. Never throws.
 */
export function plainTextOf(root: Node): string {
  const parts: string[] = [];
  walk(root, (node) => {
    const name = node.nodeName.toLowerCase();
    if (node.nodeType === 3) parts.push((node.textContent ?? '').replace(/\s+/g, ' '));
    if (blocks.test(name)) parts.push('\n');
    if (cells.test(name)) parts.push(' ');
    return !skipped.test(name);
  });
  const text = parts.join('').replace(/ {2,}/g, ' ');
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n');
}

/** Visits a tree in document order; `visit` says whether to go into the children. */
function walk(root: Node, visit: (node: Node, depth: number) => boolean): void {
  let node: Node | null = root;
  let depth = 1;
  while (node) {
    const child: Node | null = visit(node, depth) ? node.firstChild : null;
    if (child) {
      node = child;
      depth += 1;
      continue;
    }
    while (node && node !== root && !node.nextSibling) {
      node = node.parentNode;
      depth -= 1;
    }
    node = !node || node === root ? null : node.nextSibling;
  }
}
