import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DataFolderInUseError, findDataFolderOwner, holdDataFolder } from './data-folder.ts';

let folder: string;
const children: ChildProcess[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'knowhy-folder-'));
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

const lost = () => {
  throw new Error('lost the folder');
};

/** Another process that holds the folder until it is killed. */
async function holdInChild(): Promise<ChildProcess> {
  const source = `import { holdDataFolder } from ${JSON.stringify(new URL('./data-folder.ts', import.meta.url).href)};
    await holdDataFolder(${JSON.stringify(folder)}, () => {}); console.log('held'); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  await once(child.stdout, 'data');
  return child;
}

describe('holdDataFolder', () => {
  it('refuses a second holder and names the first', async () => {
    const held = await holdDataFolder(folder, lost);
    await held.announce({ url: 'http://127.0.0.1:1', token: 'secret' });

    await expect(holdDataFolder(folder, lost)).rejects.toThrow(DataFolderInUseError);
    await expect(holdDataFolder(folder, lost)).rejects.toThrow('http://127.0.0.1:1');
    await held.release();
  });

  it('lets exactly one of many starters in', async () => {
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => holdDataFolder(folder, lost)));

    const held = results.filter((result) => result.status === 'fulfilled');
    expect(held).toHaveLength(1);
    await held[0]?.value.release();
  });

  it('takes over at once from a holder that was killed', async () => {
    const child = await holdInChild();
    await expect(holdDataFolder(folder, lost)).rejects.toThrow(`process ${child.pid}`);
    child.kill('SIGKILL');
    await once(child, 'exit');

    const startedMs = Date.now();
    const held = await holdDataFolder(folder, lost);

    expect(Date.now() - startedMs).toBeLessThan(3000);
    await held.release();
  });

  it('keeps the token to the same user and forgets it when released', async () => {
    const held = await holdDataFolder(folder, lost);
    await held.announce({ url: 'http://127.0.0.1:1', token: 'secret' });

    expect((await stat(join(folder, 'server.json'))).mode & 0o077).toBe(0);
    expect((await findDataFolderOwner(folder))?.address?.token).toBe('secret');
    await held.release();
    expect(await findDataFolderOwner(folder)).toBeNull();
  });

  it('does not trip over a half-written owner file', async () => {
    await writeFile(join(folder, 'server.json'), '{"pid": 12');

    const held = await holdDataFolder(folder, lost);

    await held.release();
  });
});
