import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { createApp as createAppType } from '../http/create-app.ts';
import { compose, type Services } from '../main.ts';
import { version } from '../observability/version.ts';
import type { Command } from './commands.ts';
import { explain } from './explain.ts';
import { commandLog, loadSettings, readArguments, userPath } from './load.ts';
import { printable } from './printable.ts';
import { UsageError } from './usage-error.ts';

const help = `Usage: npm start [-- --docs FOLDER]
       npm run -s knowhy -- serve [--docs FOLDER] [--port PORT]

Runs the server on kb.http.host (127.0.0.1) and kb.http.port (8080) until it is interrupted.

  --docs FOLDER   index this folder while the server runs (or kb.docs.dir)
  --port PORT     listen here instead; 0 takes any free port
  --help          this text`;

/** `knowhy serve`. Runs until SIGINT or SIGTERM. */
export const serveCommand: Command = { help, run };

async function run(args: string[]): Promise<number> {
  const { values } = readArguments({ args, options: { docs: { type: 'string' }, port: { type: 'string' } } });
  const config = withOptions(loadSettings(), values);
  const log = commandLog('warn');
  // Before anything is opened: a signal during the start must find somebody who closes it again.
  const signals = untilSignal();
  // While the database opens in its thread, this one loads the HTTP side.
  const http = import('../http/create-app.ts');
  const services = await compose({
    config,
    log,
    onLost: (error) => {
      log.fatal({ err: error }, 'the embedded database is lost');
      process.exit(1);
    },
  });
  try {
    await serve(services, { config, log, signals, createApp: (await http).createApp });
    return 0;
  } finally {
    await services.close();
  }
}

async function serve(
  services: Services,
  run: { config: Config; log: Logger; signals: Promise<void>; createApp: typeof createAppType },
): Promise<void> {
  const { config, log, signals, createApp } = run;
  const token = randomBytes(24).toString('base64url');
  const app = await createApp({
    ask: services.ask,
    functions: services.functions,
    indexFolder: services.indexFolder,
    token,
    version,
    agentStatus: config.chat.agentStatus,
    offline: { chat: services.models.answer.offline, embedding: services.models.embedder === null },
    log,
  });
  try {
    await app.listen({ host: config.http.host, port: config.http.port });
    const url = addressOf(app, config.http.host);
    await services.dataFolder?.announce({ url, token });
    sayAddress({ url, token, services });
    // Where functions are in use their containers are started ahead, and those that a crash left are removed.
    if (await services.functions.store.hasActive()) services.python.start();
    const indexing = indexAtStart(services, config.docsDir, services.shutdown);
    await signals;
    process.stdout.write('Stopping …\n');
    services.stop();
    await indexing;
  } finally {
    services.stop();
    await app.close();
  }
}

function withOptions(config: Config, options: { docs?: string | undefined; port?: string | undefined }): Config {
  const { docs, port } = options;
  if (port !== undefined && !(/^\d{1,5}$/.test(port) && Number(port) <= 65_535))
    throw new UsageError('--port needs a number from 0 to 65535.');
  if (docs !== undefined && docs.trim() === '') throw new UsageError('--docs needs a folder.');
  return {
    ...config,
    docsDir: docs === undefined ? config.docsDir : userPath(docs),
    http: { ...config.http, port: port === undefined ? config.http.port : Number(port) },
  };
}

function addressOf(app: FastifyInstance, host: string): string {
  const address = app.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function sayAddress({ url, token, services }: { url: string; token: string; services: Services }): void {
  const { answer, embedder } = services.models;
  const lines = [
    `Knowhy answers at ${url}/ui/#token=${token}`,
    `  answers:  ${answer.offline ? 'offline (quotes from the documents; set kb.chat.* for a model)' : answer.name}`,
    `  search:   ${embedder === null ? 'offline (keywords; set kb.embedding.* for vectors)' : `keywords and vectors (${embedder.model})`}`,
    `  database: ${services.database.engine === 'pglite' ? `embedded, ${services.config.dataDir}` : 'PostgreSQL'}`,
    'Stop with Ctrl-C.',
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** Indexes while the server already answers; what goes wrong is said and ends nothing. */
async function indexAtStart(services: Services, folder: string | null, signal: AbortSignal): Promise<void> {
  if (folder === null) return;
  let saidMs = Date.now();
  try {
    const { report } = await services.indexFolder(folder, {
      onProgress: ({ done, total }) => {
        if (Date.now() - saidMs < 5000) return;
        saidMs = Date.now();
        process.stdout.write(`Indexing ${folder}: ${done}/${total}\n`);
      },
      signal,
    });
    const { indexed, unchanged, removed, failures } = report;
    process.stdout.write(
      `Indexed ${folder}: ${indexed} new or changed, ${unchanged} unchanged, ${removed} removed, ${failures.length} failed.\n`,
    );
    for (const { path, message } of failures) process.stdout.write(printable(`  failed: ${path}: ${message}\n`));
  } catch (error) {
    if (signal.aborted) return;
    process.stderr.write(printable(`${folder} was not indexed: ${explain(error)}\n`));
  }
}

async function untilSignal(): Promise<void> {
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
}
