import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSandbox, pythonRun } from '../../testing/python-sandbox.ts';

/*
 * Clients that answer like no Docker, up to `docker run`. No engine is needed. Skipped on Windows, where a file with a
 * first line of its own is no program.
 */

const UP_TO_RUN = `case "$*" in
  *" version "*) echo 27.0.1; exit;;
  *" image inspect "*) echo '{"Id":"sha256:1","Config":{}}'; exit;;
  *" ps "*|*" rm "*) exit;;
esac
`;

describe.skipIf(process.platform === 'win32')('a client that is no Docker', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'knowhy-client-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function sandboxOn(script: string) {
    const path = join(folder, 'docker');
    await writeFile(path, `#!/bin/sh\n${script}`);
    await chmod(path, 0o755);
    return openSandbox({ docker: path });
  }

  it.each([
    [
      'writes one line after the other',
      'for i in 1 2 3 4 5 6 7 8; do echo "line $i of something else"; sleep 0.05; done',
    ],
    ['writes much at once', 'head -c 3000000 /dev/zero | tr "\\0" x'],
    ['writes without an end', 'yes garbage'],
    ['ends at once', 'exit 0'],
    ['is ended by a signal', 'kill -9 $$'],
  ])(
    'R103 that %s is refused in time, and lets go',
    async (_name, onRun) => {
      const sandbox = await sandboxOn(`${UP_TO_RUN}${onRun}`);

      expect(await sandbox.describe()).toMatchObject({ kind: 'unavailable' });
      await expect(sandbox.run(pythonRun('def f(): return 1'))).rejects.toMatchObject({ name: 'SandboxError' });
      await sandbox.close();
    },
    30_000,
  );

  it.each([
    ['says something else than a version', 'echo "usage: this is no docker"', 'has to be the CLI of Docker'],
    ['never stops answering', 'yes garbage', 'no answer'],
  ])('that %s is named', async (_name, script, words) => {
    const sandbox = await sandboxOn(script);

    const state = await sandbox.describe();
    await sandbox.close();

    expect(state).toMatchObject({ kind: 'unavailable', message: expect.stringContaining(words) });
  });

  it('whose children hold its pipes does not keep the server from stopping', async () => {
    const sandbox = await sandboxOn('sleep 60 & sleep 60');
    const looking = sandbox.describe();
    const beganMs = performance.now();

    await sandbox.close();

    expect(performance.now() - beganMs).toBeLessThan(10_000);
    void looking;
  }, 20_000);
});
