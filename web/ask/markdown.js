import { texts } from './texts.js';
import DOMPurify from './vendor/dompurify.js';
import MarkdownIt from './vendor/markdown-it.js';

const markdown = new MarkdownIt({ html: false, linkify: false, breaks: true });

// A picture from elsewhere would tell its server who reads what: only its description is shown.
markdown.renderer.rules.image = (tokens, index) => {
  const description = tokens[index].content || texts().image;
  return `<span class="image">[${texts().image}: ${markdown.utils.escapeHtml(description)}]</span>`;
};
for (const rule of ['th_open', 'td_open']) {
  markdown.renderer.rules[rule] = (tokens, index, options, _env, self) => {
    const token = tokens[index];
    const align = /text-align:(\w+)/.exec(token.attrGet('style') ?? '')?.[1];
    // The page's policy allows no inline styles.
    token.attrs = align ? [['class', `align-${align}`]] : null;
    return self.renderToken(tokens, index, options);
  };
}

const ALLOWED = {
  ALLOWED_TAGS: [
    ...['p', 'br', 'hr', 'strong', 'em', 's', 'code', 'pre', 'blockquote', 'ul', 'ol', 'li', 'a', 'span'],
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'table', 'thead', 'tbody', 'tr', 'th', 'td'],
  ],
  ALLOWED_ATTR: ['href', 'title', 'class', 'start'],
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:)/i,
  RETURN_DOM_FRAGMENT: true,
};

DOMPurify.addHook('afterSanitizeAttributes', (node) => {
  if (node.nodeName !== 'A') return;
  node.setAttribute('target', '_blank');
  node.setAttribute('rel', 'noopener noreferrer nofollow');
});

/** Markdown of a model or a document as a safe fragment: no scripts, no styles, nothing loaded from elsewhere. */
export function renderMarkdown(source) {
  return DOMPurify.sanitize(markdown.render(source), ALLOWED);
}

/** `[1]`, `[1, 2]`, `【3】`: as the server reads them. */
const MARKER = /[[【]\s*(\d{1,3}(?:\s*[,，、]\s*\d{1,3})*)\s*[\]】]/g;

/** Turns the markers in the text into what `makeMarker(n)` returns; code and links stay as they are. */
export function replaceMarkers(root, makeMarker) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (walker.nextNode()) {
    if (!walker.currentNode.parentElement?.closest('code, pre, a')) nodes.push(walker.currentNode);
  }
  for (const node of nodes) replaceInText(node, makeMarker);
}

function replaceInText(node, makeMarker) {
  const parts = [];
  let end = 0;
  for (const match of node.data.matchAll(MARKER)) {
    parts.push(node.data.slice(end, match.index), ...match[1].split(/[,，、]/).map((n) => makeMarker(Number(n))));
    end = match.index + match[0].length;
  }
  if (parts.length > 0) node.replaceWith(...parts, node.data.slice(end));
}
