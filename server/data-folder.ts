import { readFileSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import lockfile from 'proper-lockfile';
import { z } from 'zod';

/** A holder whose host cannot be asked (another machine, another container) counts as gone after this. */
const STALE_MS = 30_000;
const HEARTBEAT_MS = 5_000;

const owner = z.object({
  pid: z.number().int(),
  host: z.string(),
  /** Start of the process as the kernel counts it: tells a process from a later one with its number. */
  started: z.string().nullable(),
  /** Where the holder answers over HTTP; null while it does not. */
  address: z.object({ url: z.string(), token: z.string() }).nullable(),
});
export type DataFolderOwner = z.infer<typeof owner>;

/** Somebody else works in the data folder. */
export class DataFolderInUseError extends Error {
  readonly code = 'data_folder_in_use';
  readonly owner: DataFolderOwner | null;

  constructor(folder: string, holder: DataFolderOwner | null) {
    const who = holder
      ? `process ${holder.pid}${holder.address ? ` (serving at ${holder.address.url})` : ''}`
      : 'another process';
    super(`The data folder ${folder} is in use by ${who}; stop it, or choose another folder with kb.data.dir.`);
    this.name = 'DataFolderInUseError';
    this.owner = holder;
  }
}

/** A data folder that this process alone may open. */
export interface HeldDataFolder {
  /** Tells others where this process answers, readable by the same user only. */
  announce(address: { url: string; token: string }): Promise<void>;
  release(): Promise<void>;
}

/**
 * Takes the folder for this process, creating it when missing. A holder that was killed is recognised at
 * once by its process number and start time. `onLost` is called when the lock was taken away (the process
 * slept for long): stop writing. Throws DataFolderInUseError.
 */
export async function holdDataFolder(folder: string, onLost: (error: Error) => void): Promise<HeldDataFolder> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const me: DataFolderOwner = { pid: process.pid, host: hostname(), started: processStart(process.pid), address: null };
  // Only one starter at a time may look at the old holder and take over, else two could both succeed.
  const doorRelease = await lockfile.lock(join(folder, 'starting'), {
    realpath: false,
    stale: HEARTBEAT_MS * 2,
    retries: { retries: 100, minTimeout: 50, maxTimeout: 200 },
  });
  try {
    const release = await takeLock(folder, onLost);
    await writeOwner(folder, me);
    return {
      announce: (address) => writeOwner(folder, { ...me, address }),
      release: async () => {
        await rm(ownerPath(folder), { force: true });
        await release();
      },
    };
  } finally {
    await doorRelease();
  }
}

/** Who holds the folder now, or null where nobody does. */
export async function findDataFolderOwner(folder: string): Promise<DataFolderOwner | null> {
  const holder = await readOwner(folder);
  return holder && !isGone(holder) ? holder : null;
}

async function takeLock(folder: string, onLost: (error: Error) => void): Promise<() => Promise<void>> {
  const target = join(folder, 'server');
  const options = {
    realpath: false,
    stale: STALE_MS,
    update: HEARTBEAT_MS,
    onCompromised: onLost,
  };
  try {
    return await lockfile.lock(target, options);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ELOCKED') throw error;
    const holder = await readOwner(folder);
    if (!holder || !isGone(holder)) throw new DataFolderInUseError(folder, holder);
    await rm(`${target}.lock`, { recursive: true, force: true });
    return lockfile.lock(target, options);
  }
}

function isGone(holder: DataFolderOwner): boolean {
  if (holder.host !== hostname()) return false;
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
  return holder.started !== null && holder.started !== processStart(holder.pid);
}

/** Field 22 of /proc/PID/stat, behind the name in brackets; null where there is no /proc. */
function processStart(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null;
  }
}

async function readOwner(folder: string): Promise<DataFolderOwner | null> {
  try {
    return owner.parse(JSON.parse(await readFile(ownerPath(folder), 'utf8')));
  } catch {
    // Missing, or from a holder that died while writing it: nobody we could name.
    return null;
  }
}

async function writeOwner(folder: string, holder: DataFolderOwner): Promise<void> {
  const unfinished = `${ownerPath(folder)}.${process.pid}`;
  await writeFile(unfinished, JSON.stringify(holder), { mode: 0o600 });
  await rename(unfinished, ownerPath(folder));
}

function ownerPath(folder: string): string {
  return join(folder, 'server.json');
}
