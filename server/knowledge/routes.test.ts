import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { FolderLine } from '../../contract/folder.ts';
import { FolderError } from './folder-error.ts';
import type { FolderProgress, FolderReport } from './index-folder.ts';
import { registerKnowledgeRoutes } from './routes.ts';

const KEEP_ALIVE_MS = 21;

const REPORT: FolderReport = {
  datasetId: 'd',
  folder: '/laws',
  files: 1,
  indexed: 1,
  unchanged: 0,
  removed: 0,
  paragraphs: 1,
  failures: [],
  warnings: [],
};
const PROGRESS: FolderProgress = { done: 1, total: 1, outcome: { kind: 'unchanged', path: 'a.md' } };

let app: FastifyInstance;
let shutdown: AbortController;
let logged: { level: number; msg: string }[];
/** The indexing run that a request started. */
let run: {
  onProgress(progress: FolderProgress): void;
  finish(): void;
  fail(error: Error): void;
  signal: AbortSignal;
};

beforeEach(async () => {
  logged = [];
  shutdown = new AbortController();
  const stream = { write: (line: string) => logged.push(JSON.parse(line)) };
  app = Fastify({ logger: { level: 'info', stream } });
  app.decorateRequest('language', 'zh-CN');
  registerKnowledgeRoutes(app, {
    indexFolder: (_folder, { onProgress, signal }) =>
      new Promise((resolve, reject) => {
        const finish = () => resolve({ report: REPORT, applicationId: 'a' });
        run = { onProgress, signal, finish, fail: reject };
      }),
    shutdown: shutdown.signal,
    keepAliveMs: KEEP_ALIVE_MS,
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
});
afterEach(() => app.close());

async function open() {
  // A listening TCP server has an address with a port.
  const { port } = app.server.address() as AddressInfo;
  const headers = { 'content-type': 'application/json' };
  const sent = httpRequest({ host: '127.0.0.1', port, path: '/api/dataset/folder', method: 'POST', headers });
  sent.end('{"folder":"/laws"}');
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  response.setEncoding('utf8').on('data', (data) => {
    text += data;
  });
  response.on('error', () => {});
  return {
    sent,
    response,
    blanks: () =>
      text
        .split('\n')
        .slice(0, -1)
        .filter((line) => line === '').length,
    lines: (): FolderLine[] =>
      text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
  };
}

describe('POST /api/dataset/folder', () => {
  it('sends a blank line at once and again while it works, and none after the end', async () => {
    const folder = await open();

    await vi.waitFor(() => expect(folder.blanks()).toBeGreaterThan(3));
    run.onProgress(PROGRESS);
    run.finish();
    await once(folder.response, 'end');

    expect(folder.lines()).toEqual([
      { kind: 'progress', progress: PROGRESS },
      { kind: 'indexed', result: { report: REPORT, applicationId: 'a' } },
    ]);
  });

  it('goes on indexing when the client leaves, and leaves no timer behind', async () => {
    const set = vi.spyOn(globalThis, 'setInterval');
    const cleared = vi.spyOn(globalThis, 'clearInterval');
    const folder = await open();
    const timer = set.mock.results[set.mock.calls.findIndex(([, ms]) => ms === KEEP_ALIVE_MS)]?.value;

    folder.sent.destroy();
    await vi.waitFor(() => expect(cleared).toHaveBeenCalledWith(timer));
    run.onProgress(PROGRESS);
    run.finish();
    await new Promise((resolve) => setTimeout(resolve, 50));

    expect(timer).toBeDefined();
    expect(run.signal.aborted).toBe(false);
    expect(logged.filter(({ level }) => level >= 40)).toEqual([]);
    set.mockRestore();
    cleared.mockRestore();
  });

  it('drops progress for a client that does not read', async () => {
    const folder = await open();
    folder.response.pause();
    const outcome = { kind: 'unchanged', path: 'x'.repeat(10_000) } as const;

    for (let done = 1; done <= 5000; done += 1) run.onProgress({ done, total: 5000, outcome });
    run.finish();
    folder.response.resume();
    await once(folder.response, 'end');

    expect(folder.lines().length).toBeLessThan(10);
    expect(folder.lines().at(-1)).toMatchObject({ kind: 'indexed' });
  });

  it('says why a folder cannot be indexed and logs a warning', async () => {
    const folder = await open();

    run.fail(new FolderError('folder_not_found', 'There is no folder /laws.'));
    await once(folder.response, 'end');

    expect(folder.lines()).toEqual([{ kind: 'failed', message: 'There is no folder /laws.' }]);
    expect(logged).toContainEqual(expect.objectContaining({ level: 40, msg: 'a folder could not be indexed' }));
  });

  it('logs a cancellation as information', async () => {
    const folder = await open();

    shutdown.abort();
    run.fail(new DOMException('This operation was aborted', 'AbortError'));
    await once(folder.response, 'end');

    expect(folder.lines()).toMatchObject([{ kind: 'failed', message: expect.stringContaining('stopping') }]);
    expect(logged.filter(({ level }) => level > 30)).toEqual([]);
  });
});
