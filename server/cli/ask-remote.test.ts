import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { RemoteBackend } from './ask-remote.ts';

const PROFILE = JSON.stringify({ code: 200, message: '', data: { offline: { chat: true } } });
const REPORT = {
  ...{ datasetId: 'd', folder: '/laws', files: 0, indexed: 0, unchanged: 0, removed: 0, paragraphs: 0 },
  ...{ failures: [], warnings: [] },
};

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function listen(listener: RequestListener): Promise<{ url: string; token: string }> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A listening TCP server has an address with a port.
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, token: 'a-token' };
}

describe('RemoteBackend', { timeout: 5000 }, () => {
  it('is interrupted while a server does not answer', async () => {
    const address = await listen(() => {});
    const interrupt = new AbortController();

    const opening = RemoteBackend.open(address, interrupt.signal);
    setTimeout(() => interrupt.abort(), 50);

    await expect(opening).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('is interrupted between the profile and the applications', async () => {
    const address = await listen((request, response) => {
      if (request.url === '/api/profile') response.end(PROFILE);
    });
    const interrupt = new AbortController();
    const backend = await RemoteBackend.open(address, interrupt.signal);

    const asking = backend.defaultApplicationId(interrupt.signal);
    setTimeout(() => interrupt.abort(), 50);

    await expect(asking).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('passes over the blank lines of a folder that takes long', async () => {
    const address = await listen((request, response) => {
      const last = JSON.stringify({ kind: 'indexed', result: { report: REPORT, applicationId: 'a' } });
      if (request.url === '/api/profile') response.end(PROFILE);
      else response.setHeader('content-type', 'application/x-ndjson').end(`\n\n\n${last}\n\n`);
    });
    const signal = new AbortController().signal;
    const backend = await RemoteBackend.open(address, signal);

    const indexed = await backend.indexFolder('/laws', () => {}, signal);

    expect(indexed).toEqual({ report: REPORT, applicationId: 'a' });
  });
});
