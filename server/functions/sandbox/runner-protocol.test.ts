import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readOutcome, readOutput } from './read-outcome.ts';
import { type Frame, FrameReader, ProtocolError } from './runner-protocol.ts';

const nonce = '0123456789abcdef0123456789abcdef';
const status = { status: 'done', exit: null, signal: null, ms: 1.5, size: 10, printed: 5 };
const asked = { code: 'def f():\n    return 1', entrypoint: null, timeoutMs: 1000, memoryBytes: 1 };

function frameBytes(parts: readonly (string | Buffer)[], { with: given = nonce } = {}): Buffer {
  const packed = parts.flatMap((part) => {
    const bytes = Buffer.from(part);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    return [length, bytes];
  });
  return Buffer.concat([Buffer.from(`KBR1KBF1${given}`), ...packed]);
}

const whole = frameBytes([JSON.stringify(status), '{"ok":true,"result":[1]}', 'out', 'er']);

function outcomeOf(worker: string | Buffer) {
  return readOutcome(
    { status, worker: Buffer.from(worker), stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) } as Frame,
    asked,
  );
}

describe('FrameReader', () => {
  it('reads a frame however its bytes arrive', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: whole.length - 1 }), { maxLength: 6 }), (cuts) => {
        const reader = new FrameReader(nonce);
        const places = [0, ...new Set(cuts), whole.length].sort((a, b) => a - b);
        for (const [index, place] of places.slice(1).entries()) {
          expect(reader.frame()).toBeNull();
          reader.push(whole.subarray(places[index], place));
        }

        expect(reader.isReady()).toBe(true);
        expect(reader.frame()).toMatchObject({ status, stdout: Buffer.from('out'), stderr: Buffer.from('er') });
      }),
    );
  });

  it.each([
    ['another nonce', frameBytes(['{}', '', '', ''], { with: nonce.replace('0', '1') })],
    ['bytes behind it', Buffer.concat([whole, Buffer.from('x')])],
    ['a status that is none', frameBytes(['{"status":"fine"}', '', '', ''])],
    ['a second ready mark', Buffer.from(`KBR1KBR1${nonce}`)],
  ])('refuses a frame with %s', (_name, bytes) => {
    const reader = new FrameReader(nonce);
    reader.push(bytes);

    expect(() => reader.frame()).toThrow(ProtocolError);
  });

  it('refuses what does not begin with the ready mark, and what never ends', () => {
    expect(() => new FrameReader(nonce).push(Buffer.from('KBX'))).toThrow(ProtocolError);
    const reader = new FrameReader(nonce);
    reader.push(Buffer.from('KBR1'));
    expect(() => {
      for (;;) reader.push(Buffer.alloc(65_536));
    }).toThrow('more than a frame holds');
  });
});

describe('readOutcome', () => {
  it.each([
    ['no UTF-8', Buffer.from([0xff, 0xfe, 0x7b])],
    ['NaN', '{"ok":true,"result":NaN}'],
    ['nothing', ''],
    ['another shape', '{"ok":false,"kind":"timeout"}'],
    ['a depth that would end the stack', `{"ok":true,"result":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
  ])('takes a worker that wrote %s for a function without a value', (_name, worker) => {
    expect(outcomeOf(worker).kind).toBe('not-json');
  });

  it('makes a forged value storable and leaves the prototype alone', () => {
    const outcome = outcomeOf('{"ok":true,"result":{"__proto__":{"a":"\\u0000\\ud800"}}}');

    expect(outcome).toMatchObject({ kind: 'value' });
    expect(JSON.stringify(outcome.kind === 'value' && outcome.value)).toBe('{"__proto__":{"a":"\uFFFD"}}');
    expect('a' in {}).toBe(false);
  });

  it('R99 counts a forged value as well', () => {
    expect(outcomeOf(`{"ok":true,"result":"${'x'.repeat(256 * 1024)}"}`)).toMatchObject({
      kind: 'limit',
      limit: 'result',
    });
  });

  it('does not break a character that the limit of the output cut', () => {
    const frame = {
      status,
      worker: Buffer.alloc(0),
      stdout: Buffer.from('日志').subarray(0, 5),
      stderr: Buffer.alloc(0),
    };

    expect(readOutput({ ...frame, status: { ...status, printed: 6 } } as Frame)).toEqual({
      stdout: '日',
      stderr: '',
      outputTruncated: true,
      durationMs: 1.5,
    });
  });

  it('keeps a U+FFFD that was printed', () => {
    const stdout = Buffer.from('x\uFFFD');
    const frame = { status: { ...status, printed: stdout.length }, worker: stdout, stdout, stderr: Buffer.alloc(0) };

    expect(readOutput(frame as Frame)).toMatchObject({ stdout: 'x\uFFFD', outputTruncated: false });
  });

  it('R99 gives no more than 8 KiB of text where no UTF-8 was printed', () => {
    const stdout = Buffer.alloc(8192, 0xff);
    const frame = { status: { ...status, printed: 8192 }, worker: stdout, stdout, stderr: Buffer.alloc(0) };

    const printed = readOutput(frame as Frame);

    expect(Buffer.byteLength(printed.stdout)).toBeLessThanOrEqual(8192);
    expect(printed.stdout.length).toBe(2730);
    expect(printed.outputTruncated).toBe(true);
  });

  it('keeps all of a little text in another encoding', () => {
    const stdout = Buffer.from([0xd6, 0xd0, 0xce, 0xc4]);
    const frame = { status: { ...status, printed: 4 }, worker: stdout, stdout, stderr: Buffer.alloc(0) };

    expect(readOutput(frame as Frame)).toMatchObject({ stdout: '\uFFFD'.repeat(4), outputTruncated: false });
  });

  it('names no line that the code does not have', () => {
    const forged = { ok: false, kind: 'exception', type: 'E', message: 'm', frames: [{ line: 99_999, function: 'f' }] };

    expect(outcomeOf(JSON.stringify(forged))).toMatchObject({ kind: 'exception', line: null });
  });
});
