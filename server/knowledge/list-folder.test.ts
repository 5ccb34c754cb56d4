import { mkdir, mkdtemp, realpath, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listFolder, resolveFolder } from './list-folder.ts';

let folder: string;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'knowhy-test-')));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function write(path: string, text = 'x'): Promise<string> {
  const fullPath = join(folder, path);
  await mkdir(join(fullPath, '..'), { recursive: true });
  await writeFile(fullPath, text);
  return fullPath;
}

const pathsOf = async (root = folder) => (await listFolder(root)).files.map((file) => file.path);

describe('listFolder', () => {
  it('lists documents of all folders below, by path, with slashes', async () => {
    for (const path of ['b.md', 'a/z.txt', 'a/deep/年假.md', 'c.HTML']) await write(path);

    expect(await pathsOf()).toEqual(['a/deep/年假.md', 'a/z.txt', 'b.md', 'c.HTML']);
  });

  it('tells size and time of a file', async () => {
    const fullPath = await write('a.md', '年假');
    await utimes(fullPath, 1_700_000_000, 1_700_000_000.25);

    const [file] = (await listFolder(folder)).files;

    expect(file).toEqual({ path: 'a.md', fullPath, sizeBytes: 6, mtimeMs: 1_700_000_000_250 });
  });

  it.each(['.hidden.md', '.git/a.md', '~$a.docx', 'node_modules/a/readme.md', 'a.png', 'a', 'md'])(
    'passes over %s',
    async (path) => {
      await write(path);

      expect(await pathsOf()).toEqual([]);
    },
  );

  it.skipIf(process.platform !== 'linux')('reports a name that is not UTF-8 instead of losing the file', async () => {
    await writeFile(Buffer.concat([Buffer.from(join(folder, 'bad')), Buffer.from([0xff]), Buffer.from('.md')]), 'x');

    const { files, unreadable } = await listFolder(folder);

    expect(files).toEqual([]);
    expect(unreadable[0]?.message).toContain('UTF-8');
  });

  // Windows lets only administrators make links.
  describe.skipIf(process.platform === 'win32')('with links', () => {
    it('follows none, so that nothing leads out of the folder or round in it', async () => {
      const secret = await write('outside/secret.md');
      await write('inside/a.md');
      const inside = join(folder, 'inside');
      await symlink(secret, join(inside, 'file.md'));
      await symlink(join(folder, 'outside'), join(inside, 'folder'));
      await symlink(inside, join(inside, 'loop'));

      expect(await pathsOf(inside)).toEqual(['a.md']);
    });

    it('takes a folder that is named by a link', async () => {
      await write('real/a.md');
      await symlink(join(folder, 'real'), join(folder, 'link'));

      expect(await resolveFolder(join(folder, 'link'))).toBe(join(folder, 'real'));
    });
  });
});

describe('resolveFolder', () => {
  it('says that there is no such folder', async () => {
    await expect(resolveFolder(join(folder, 'no'))).rejects.toMatchObject({
      name: 'FolderError',
      code: 'folder_not_found',
    });
  });

  it('says that a file is no folder', async () => {
    const file = await write('a.md');

    await expect(resolveFolder(file)).rejects.toMatchObject({
      code: 'folder_not_found',
      message: expect.stringContaining('is a file'),
    });
  });
});
