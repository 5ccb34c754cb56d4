import { SingleBar } from 'cli-progress';
import type { FolderProgress } from '../knowledge/index-folder.ts';
import { printable } from './printable.ts';

/** A bar on standard error while a folder is indexed; nothing where that is no terminal. */
export function folderProgressBar(): { update(progress: FolderProgress): void; stop(): void } {
  const bar = new SingleBar({
    stream: process.stderr,
    format: 'Indexing [{bar}] {value}/{total} {file}',
    clearOnComplete: true,
    hideCursor: true,
    noTTYOutput: false,
  });
  let started = false;
  return {
    update: ({ done, total, outcome }) => {
      if (!process.stderr.isTTY) return;
      if (!started) bar.start(total, 0, { file: '' });
      started = true;
      bar.update(done, { file: printable(outcome.path.slice(-50)) });
    },
    stop: () => {
      if (started) bar.stop();
      started = false;
    },
  };
}
