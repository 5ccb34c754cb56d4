/**
 * Value of an attribute of the first element `element` in a piece of WordprocessingML, '' when there is none.
 * `name`: `w:val` when left out. Never throws.
 */
export function attributeOf(xml: string, element: string, name = 'w:val'): string {
  const tag = new RegExp(`<${element}(?:\\s[^>]*)?>`).exec(xml)?.[0] ?? '';
  return new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1] ?? '';
}

/** The elements of one name, with their tags; for elements that are not nested in each other. Never throws. */
export function elementsOf(xml: string, element: string): string[] {
  return xml.match(new RegExp(`<${element}(?:\\s[^>]*)?(?<!/)>[\\s\\S]*?</${element}>`, 'g')) ?? [];
}

/** Escapes text for use between tags. Never throws. */
export function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Replaces the five predefined entities by their characters. Never throws. */
export function unescapeXml(text: string): string {
  return text
    .replaceAll('&apos;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
