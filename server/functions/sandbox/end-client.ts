import type { ChildProcessWithoutNullStreams } from 'node:child_process';

/** Ends a client of the engine at once, with its pipes, whoever else holds them: nothing waits for it any more. */
export function endClient(child: ChildProcessWithoutNullStreams): void {
  child.kill('SIGKILL');
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
  child.unref();
}
