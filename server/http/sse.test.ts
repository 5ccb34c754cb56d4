import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type EventStream, openEventStream, ReaderGoneError, type StreamTimings } from './sse.ts';

const open: { close(): void }[] = [];
afterEach(() => {
  for (const thing of open.splice(0)) thing.close();
});

/** A raw connection whose request is answered by `use`; reads nothing until told. */
async function serve(
  options: { keepAlive?: boolean; timings?: Partial<StreamTimings> },
  use: (stream: EventStream, response: ServerResponse) => Promise<void>,
) {
  let settle: (error: unknown) => void = () => undefined;
  const used = new Promise<unknown>((resolve) => {
    settle = resolve;
  });
  const server = createServer((_request, response) => {
    const timings = { keepAliveMs: 15_000, stallMs: 60_000, ...options.timings };
    const stream = openEventStream(response, { keepAlive: options.keepAlive ?? false, timings });
    use(stream, response).then(() => settle(null), settle);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A listening TCP server has an address with a port.
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  open.push({
    close: () => {
      socket.destroy();
      server.closeAllConnections();
      server.close();
    },
  });
  socket.pause();
  socket.write('POST / HTTP/1.0\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}');
  return { socket, used };
}

async function readAll(socket: Socket): Promise<{ head: string; body: string }> {
  let text = '';
  socket.setEncoding('utf8').on('data', (piece) => {
    text += piece;
  });
  socket.resume();
  await new Promise((resolve) => socket.on('close', resolve));
  const at = text.indexOf('\r\n\r\n');
  return { head: text.slice(0, at).toLowerCase(), body: text.slice(at + 4) };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('openEventStream', () => {
  it('sends one line of JSON a frame, with line separators escaped, and nothing after the end', async () => {
    const { socket, used } = await serve({}, async (stream) => {
      await stream.send({ text: '一\n二\u2028三\u2029' });
      await stream.send({ phase: 'context' }, { event: 'agent_status', id: 7 });
      await stream.end();
      await stream.send({ late: true });
      await stream.end();
    });

    const { head, body } = await readAll(socket);

    expect(await used).toBeNull();
    expect(body).toBe(
      'data: {"text":"一\\n二\\u2028三\\u2029"}\n\nid: 7\nevent: agent_status\ndata: {"phase":"context"}\n\n',
    );
    expect(head).toContain('content-type: text/event-stream;charset=utf-8');
    expect(head).toContain('cache-control: no-cache, no-transform');
    expect(head).toContain('x-accel-buffering: no');
    expect(head).toContain("frame-ancestors 'none'");
  });

  it('sends keep-alive comments only where they are wanted', async () => {
    const timings = { keepAliveMs: 20 };
    const use = async (stream: EventStream) => {
      await pause(110);
      await stream.end();
    };

    const withPings = await readAll((await serve({ keepAlive: true, timings }, use)).socket);
    const without = await readAll((await serve({ keepAlive: false, timings }, use)).socket);

    expect(withPings.body).toMatch(/^(: ping\n\n){2,}$/);
    expect(without.body).toBe('');
  });

  it('waits for a reader that is behind', async () => {
    let sent = 0;
    const total = 400;
    const { socket, used } = await serve({}, async (stream) => {
      for (; sent < total; sent += 1) await stream.send('x'.repeat(64 * 1024));
      await stream.end();
    });
    await pause(300);
    const before = sent;

    const { body } = await readAll(socket);

    expect(await used).toBeNull();
    expect(before).toBeLessThan(total);
    expect(body.split('\n\n')).toHaveLength(total + 1);
  });

  it('gives up on a reader that takes nothing', async () => {
    const { used } = await serve({ timings: { stallMs: 100 } }, async (stream) => {
      for (;;) await stream.send('x'.repeat(64 * 1024));
    });

    expect(await used).toBeInstanceOf(ReaderGoneError);
  });

  it('gives up on a reader that never takes the end', async () => {
    const { used } = await serve({ timings: { stallMs: 100 } }, async (stream, response) => {
      response.write('x'.repeat(16 * 1024 * 1024));
      await stream.end();
      expect(response.destroyed).toBe(true);
    });

    expect(await used).toBeNull();
  });

  it('tells a reader that left from one whose request is merely read', async () => {
    const { socket, used } = await serve({ keepAlive: true, timings: { keepAliveMs: 5 } }, async (stream) => {
      await pause(50);
      await stream.send('still here');
      socket.destroy();
      await pause(50);
      await stream.send('gone');
    });

    expect(await used).toBeInstanceOf(ReaderGoneError);
  });
});
