import { Worker, type WorkerOptions } from 'node:worker_threads';

/**
 * Starts a worker thread from the URL of a `.ts` file beside its caller. A build holds the `.js` of the
 * same name; run from sources (tests), the thread loads TypeScript through tsx.
 */
export function startWorker(source: URL, options: WorkerOptions): Worker {
  if (!import.meta.url.endsWith('.ts')) {
    return new Worker(new URL(source.href.replace(/\.ts$/, '.js')), options);
  }
  // `--import tsx` registers in the main thread only.
  const load = `import('tsx/esm/api').then(({ register }) => { register(); return import(${JSON.stringify(source.href)}); })`;
  return new Worker(load, { ...options, eval: true });
}
