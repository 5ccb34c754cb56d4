const droppedElements =
  'script, style, noscript, template, nav, svg, iframe, object, embed, canvas, audio, video, link, meta, ' +
  'button, select, textarea, input:not([type=checkbox]), [hidden], [aria-hidden=true], [role=navigation]';

/**
 * Removes what readers do not see or do not read (scripts, navigation, hidden parts, comments) and puts formulas as
 * their TeX source. `root` is changed. Returns the number of images that were embedded as data and therefore removed.
 */
export function cleanHtml(root: Element): number {
  for (const math of root.querySelectorAll('math')) {
    const tex = math.querySelector('annotation[encoding="application/x-tex"]')?.textContent?.trim();
    if (tex) math.replaceWith(`$${tex}$`);
  }
  for (const element of root.querySelectorAll(droppedElements)) {
    // Sites hide long tables behind a script; text of that kind is shown to readers after a click.
    if (element.matches('[hidden], [aria-hidden=true]') && element.querySelector('table, pre')) continue;
    element.remove();
  }
  for (const element of root.querySelectorAll('[style*="display"]')) {
    if (/display\s*:\s*none/i.test(element.getAttribute('style') ?? '')) element.remove();
  }
  removeComments(root);
  return removeDataImages(root);
}

function removeComments(root: Element): void {
  const pending: Node[] = [root];
  for (let node = pending.pop(); node; node = pending.pop()) {
    for (const child of [...node.childNodes]) {
      if (child.nodeType === 8) child.parentNode?.removeChild(child);
      else if (child.nodeType === 1) pending.push(child);
    }
  }
}

function removeDataImages(root: Element): number {
  let removed = 0;
  for (const image of root.querySelectorAll('img')) {
    if (!/^data:/i.test(image.getAttribute('src') ?? '')) continue;
    const alt = image.getAttribute('alt')?.trim();
    if (alt) image.replaceWith(alt);
    else image.remove();
    removed += 1;
  }
  return removed;
}
