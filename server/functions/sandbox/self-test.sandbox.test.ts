import { access, chmod, constants, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { PythonConfig } from '../../config.ts';
import {
  describeWithEngine,
  docker,
  openSandbox,
  pythonConfig,
  pythonRun,
  testDockerHost,
} from '../../testing/python-sandbox.ts';
import type { SandboxState } from '../python-sandbox.ts';
import { sandboxFolder } from './engine-command.ts';

let folder: string;
const path = process.env['PATH'] ?? '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'knowhy-test-'));
});
afterEach(async () => {
  process.env['PATH'] = path;
  await rm(folder, { recursive: true, force: true });
});

/** Puts a program in front of everything else on the PATH. */
async function program(name: string, script: string): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, `#!/bin/bash\n${script}\n`);
  await chmod(file, 0o755);
  process.env['PATH'] = `${folder}${delimiter}${path}`;
  return file;
}

async function describeSandbox(changes: Partial<PythonConfig>): Promise<SandboxState> {
  const sandbox = openSandbox(changes);
  try {
    return await sandbox.describe();
  } finally {
    await sandbox.close();
  }
}

/** The real CLI, with some of its arguments left out or replaced on the way. */
const changing = (change: string, real: string) =>
  `args=()\nfor a in "$@"; do ${change}; args+=("$a"); done\nexec ${real} "\${args[@]}"`;

describeWithEngine('the self-test of the sandbox', () => {
  it('passes on the engine of the tests and says what it found', async () => {
    expect(await describeSandbox({})).toMatchObject({
      kind: 'ready',
      engine: 'docker',
      engineVersion: expect.stringMatching(/^\d+\./),
      pythonVersion: expect.stringMatching(/^3\./),
      notes: [],
    });
  });

  it('R103 refuses without an engine and never runs a Python of the host', async () => {
    const mark = join(folder, 'mark');
    for (const name of ['python', 'python3', 'python3.11', 'py']) await program(name, `echo "$0" >> ${mark}`);
    const without = openSandbox({ dockerHost: `unix://${folder}/none.sock` });
    const broken = openSandbox({ docker: 'no-such-docker' });
    const working = openSandbox();
    const request = pythonRun('def f():\n    return 1');

    await expect(without.run(request)).rejects.toMatchObject({
      code: 'sandbox_unavailable',
      message: expect.stringContaining('The container engine does not answer: start it'),
    });
    await expect(without.checkSyntax('x = 1', { caller: '', signal: request.signal })).rejects.toMatchObject({
      code: 'sandbox_unavailable',
    });
    await expect(broken.run(request)).rejects.toMatchObject({
      code: 'sandbox_unavailable',
      message: expect.stringContaining('The Docker CLI was not found'),
    });
    expect(await working.run(request)).toMatchObject({ kind: 'value', value: 1 });
    for (const sandbox of [without, broken, working]) await sandbox.close();
    await expect(readFile(mark)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('R110 names an image that is missing and pulls nothing', async () => {
    expect(await describeSandbox({ image: 'knowhy-python:none' })).toMatchObject({
      code: 'sandbox_image_missing',
      message: expect.stringContaining('run scripts/setup-python-sandbox.sh'),
    });
  });

  it('R94 refuses an image that declares a volume', async () => {
    const container = await docker('create', '--network', 'none', pythonConfig().image);
    await docker('commit', '--change', 'VOLUME ["/data"]', container, 'knowhy-python:volume');
    await docker('rm', container);

    const state = await describeSandbox({ image: 'knowhy-python:volume' });
    await docker('rmi', 'knowhy-python:volume');

    expect(state).toMatchObject({ code: 'sandbox_unsafe', message: expect.stringContaining('the volume /data') });
  });

  it.each([
    ['the limit of processes is 77', '[ "$a" != 64 ] || a=77'],
    ['the memory limit is 536870912', '[ "$a" != 256m ] || a=512m'],
    ['the limit of processors', '[ "$p" != --cpus ] || a=2; p=$a'],
    ['the root file system is writable', '[ "$a" != --read-only ] || continue'],
    ['functions run as 0', '[ "$a" != 65534:65534 ] || a=0:0'],
    ['no-new-privileges is not set', '[ "$a" != no-new-privileges ] || a=label=disable'],
    ['AF_VSOCK', '[[ "$a" != seccomp=* ]] || a=seccomp=unconfined'],
    ['/tmp lacks noexec', 'a=$(sed s/noexec/exec/ <<<"$a")'],
  ])('fails closed where an engine drops a limit: %s', async (words, change) => {
    const fake = await program('fake-docker', changing(change, await whichDocker()));

    expect(await describeSandbox({ docker: fake })).toMatchObject({
      code: 'sandbox_unsafe',
      message: expect.stringContaining(words),
    });
  });

  it('says so where the disk of the engine is full', async () => {
    const real = await whichDocker();
    const fake = await program(
      'fake-docker',
      `case "$*" in *" run "*) echo "docker: Error response from daemon: mkdir /var/lib/docker/overlay2/ab-init: no space left on device." >&2; exit 125;; esac\nexec ${real} "$@"`,
    );

    expect(await describeSandbox({ docker: fake })).toMatchObject({
      code: 'sandbox_full',
      message: expect.stringContaining('The disk of the container engine is full'),
    });
  });

  it('R108 runs through WSL without a shell between', async () => {
    const log = join(folder, 'calls');
    const inside = `args=(); for a in "$@"; do args+=("$(sed 's#/etc/knowhy#${sandboxFolder()}#' <<<"$a")"); done; exec "\${args[@]}"`;
    await program(
      'wsl',
      `[ "$1 $2 $3" = "-d Ubuntu --exec" ] || { echo "There is no distribution with the supplied name. Error code: Wsl/Service/WSL_E_DISTRO_NOT_FOUND"; exit 255; }
printf '%s\\n' "$*" >> ${log}; env > ${log}.env; shift 3; export DOCKER_HOST=${testDockerHost}
${inside}`,
    );
    const sandbox = openSandbox({ wslDistribution: 'Ubuntu', dockerHost: null });

    const outcome = await sandbox.run(pythonRun('def f():\n    return "through wsl"'));
    await sandbox.close();
    const unknown = await describeSandbox({ wslDistribution: 'Debian', dockerHost: null });

    expect(outcome).toMatchObject({ kind: 'value', value: 'through wsl' });
    expect(await readFile(log, 'utf8')).toMatch(
      /^-d Ubuntu --exec docker --config \/nonexistent run --rm -i --pull=never/m,
    );
    // PWD, SHLVL and _ are the shell's of the fake.
    const names = (await readFile(`${log}.env`, 'utf8')).match(/^\w+(?==)/gm);
    expect(names?.sort()).toEqual(['PATH', 'PWD', 'SHLVL', 'WSL_UTF8', '_']);
    expect(unknown).toMatchObject({
      code: 'sandbox_unavailable',
      message: expect.stringContaining('There is no such WSL distribution'),
    });
  });
});

async function whichDocker(): Promise<string> {
  for (const place of path.split(delimiter)) {
    try {
      await access(join(place, 'docker'), constants.X_OK);
      return join(place, 'docker');
    } catch {
      // Not in this folder.
    }
  }
  throw new Error('There is no docker on the PATH.');
}
