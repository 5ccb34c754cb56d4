import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

const TYPES = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
} as const;

/** Every file that is served, by its address below /ui/: nothing that a request says becomes a path on disk. */
const FILES: readonly { address: string; path: string; type: keyof typeof TYPES }[] = [
  { address: '', path: 'web/ask/index.html', type: 'html' },
  { address: 'ask.css', path: 'web/ask/ask.css', type: 'css' },
  ...[
    'ask',
    'client',
    'conversation',
    'element',
    'markdown',
    'page-parts',
    'stored',
    'texts',
    'trace-view',
    'turn-view',
  ].map((name) => ({
    address: `${name}.js`,
    path: `web/ask/${name}.js`,
    type: 'js' as const,
  })),
  {
    address: 'vendor/markdown-it.js',
    path: 'node_modules/markdown-it/dist/browser/markdown-it.esm.min.mjs',
    type: 'js',
  },
  { address: 'vendor/dompurify.js', path: 'node_modules/dompurify/dist/purify.es.mjs', type: 'js' },
  { address: 'vendor/eventsource-parser.js', path: 'node_modules/eventsource-parser/dist/index.js', type: 'js' },
];

/**
 * Serves the ask page at /ui/ and the browser builds of its libraries. `root`: the folder of package.json.
 * Files are read once; a missing one rejects, so that a broken installation shows at start.
 */
export async function serveAskPage(app: FastifyInstance, root: string): Promise<void> {
  for (const file of FILES) {
    const content = await readFile(join(root, file.path));
    const etag = `"${createHash('sha256').update(content).digest('base64url')}"`;
    app.get(`/ui/${file.address}`, { config: { isPublic: true } }, (request, reply) =>
      sendFile(request, reply, { content, etag, type: TYPES[file.type] }),
    );
  }
  for (const address of ['/', '/ui']) {
    app.get(address, { config: { isPublic: true } }, (_request, reply) => reply.redirect('/ui/', 302));
  }
}

function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: { content: Buffer; etag: string; type: string },
): FastifyReply {
  // Asked for again each time, so that page and server are always of one version.
  reply.header('cache-control', 'no-cache').header('etag', file.etag);
  if (request.headers['if-none-match'] === file.etag) return reply.code(304).send();
  return reply.header('content-type', file.type).send(file.content);
}
