import { unescapeXml } from './docx-xml.ts';

interface MathNode {
  readonly name: string;
  readonly attributes: string;
  readonly children: MathNode[];
  text: string;
}

const maxDepth = 100;

/** Writes a formula of Word (the inside of m:oMath) as TeX between dollar signs. Never throws; unknown parts keep their text. */
export function mathToTex(formulaXml: string): string {
  const tex = toTex(parseMath(formulaXml)).replace(/\s+/g, ' ').trim();
  return tex === '' ? '' : `$${tex}$`;
}

/** Formulas are small and of one vocabulary, so a full XML parser is not needed for them. */
function parseMath(xml: string): MathNode {
  const root: MathNode = { name: '', attributes: '', children: [], text: '' };
  const open = [root];
  for (const [tag, close, name = '', attributes = '', selfClose] of xml.matchAll(
    /<(\/?)([\w:]+)((?:\s[^<>]*?)?)(\/?)>|[^<]+/g,
  )) {
    const parent = open.at(-1) ?? root;
    if (!tag.startsWith('<')) {
      if (parent.name === 'm:t' || parent.name === 'w:t') parent.text += unescapeXml(tag);
    } else if (close) {
      if (open.length > 1) open.pop();
    } else {
      const node: MathNode = { name, attributes, children: [], text: '' };
      parent.children.push(node);
      if (!selfClose && open.length < maxDepth) open.push(node);
    }
  }
  return root;
}

function toTex(node: MathNode): string {
  const part = (name: string) =>
    node.children
      .filter((child) => child.name === name)
      .map(toTex)
      .join('');
  const property = (name: string) => findProperty(node, name);
  switch (node.name) {
    case 'm:t':
    case 'w:t':
      return node.text;
    case 'm:f':
      return `\\frac{${part('m:num')}}{${part('m:den')}}`;
    case 'm:sSup':
      return `${part('m:e')}^{${part('m:sup')}}`;
    case 'm:sSub':
      return `${part('m:e')}_{${part('m:sub')}}`;
    case 'm:sSubSup':
      return `${part('m:e')}_{${part('m:sub')}}^{${part('m:sup')}}`;
    case 'm:rad':
      return part('m:deg') === '' ? `\\sqrt{${part('m:e')}}` : `\\sqrt[${part('m:deg')}]{${part('m:e')}}`;
    case 'm:d': {
      const parts = node.children.filter((child) => child.name === 'm:e').map(toTex);
      return `${property('m:begChr') ?? '('}${parts.join(property('m:sepChr') ?? '|')}${property('m:endChr') ?? ')'}`;
    }
    case 'm:nary':
      return `${property('m:chr') ?? '∫'}_{${part('m:sub')}}^{${part('m:sup')}} ${part('m:e')}`;
    case 'm:mr':
      return `${node.children
        .filter((child) => child.name === 'm:e')
        .map(toTex)
        .join(' & ')} \\\\ `;
    default:
      return node.name.endsWith('Pr') ? '' : node.children.map(toTex).join('');
  }
}

function findProperty(node: MathNode, name: string): string | undefined {
  const properties = node.children.find((child) => child.name === `${node.name}Pr`);
  const attributes = properties?.children.find((child) => child.name === name)?.attributes;
  return attributes === undefined ? undefined : (/m:val="([^"]*)"/.exec(attributes)?.[1] ?? '');
}
