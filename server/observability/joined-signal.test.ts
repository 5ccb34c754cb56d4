import { setTimeout } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { joinSignals, within } from './joined-signal.ts';

describe('joinSignals', () => {
  it('fires at its limit although everything was collected meanwhile', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const reasons: unknown[] = [];
    // Nothing but the listener holds on to the joined signal.
    (() => {
      const { signal } = joinSignals([new AbortController().signal], { timeoutMs: 200 });
      signal.addEventListener('abort', () => reasons.push(signal.reason));
    })();

    for (let turn = 0; turn < 20; turn += 1) {
      collect();
      await setTimeout(20);
    }

    expect(reasons).toMatchObject([{ name: 'TimeoutError' }]);
  });

  it('fires with the reason of the first of its signals, also of one that has fired before', () => {
    const [one, two] = [new AbortController(), new AbortController()];
    const joined = joinSignals([one.signal, two.signal]);
    two.abort('two');
    one.abort('one');

    expect(joined.signal.reason).toBe('two');
    expect(joinSignals([one.signal]).signal.reason).toBe('one');
  });

  it('lets go of everything once it is disposed of', async () => {
    const controller = new AbortController();
    const joined = joinSignals([controller.signal], { timeoutMs: 20 });

    joined.dispose();
    controller.abort();
    await setTimeout(40);

    expect(joined.signal.aborted).toBe(false);
  });
});

describe('within', () => {
  it('gives up after its time and takes the result before', async () => {
    await expect(within(20, 'the work', new Promise(() => {}))).rejects.toMatchObject({ code: 'waited_too_long' });
    await expect(within(1000, 'the work', Promise.resolve(7))).resolves.toBe(7);
  });
});
