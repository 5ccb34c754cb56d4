import { access, constants, mkdir } from 'node:fs/promises';
import { type Config, DEFAULT_PYTHON_IMAGE } from '../config.ts';
import { findDataFolderOwner } from '../data-folder.ts';
import type { DatabaseEngine } from '../database/database.ts';
import { type DatabaseDescription, describeDatabase } from '../database/describe-database.ts';
import type { SandboxState } from '../functions/python-sandbox.ts';
import { compose, type Services } from '../main.ts';
import { CachedEmbedder } from '../models/cached-embedder.ts';
import type { ChatModel, Embedder } from '../models/chat-model.ts';
import type { Models } from '../models/create-models.ts';
import { RemoteEmbedder } from '../models/remote-embedder.ts';
import { UniChatClient } from '../models/uni-chat-client.ts';
import type { Command } from './commands.ts';
import { explain } from './explain.ts';
import { commandLog, loadSettings, readArguments } from './load.ts';

const help = `Usage: npm run -s knowhy -- doctor

Checks the settings, the data folder, the database, the models and the sandbox of Python functions, one line each, and
says what to do.
Exit code: 0 all well, 1 something is wrong.`;

/** A check's outcome; `note` is something to know that is no fault. */
export interface Finding {
  kind: 'ok' | 'note' | 'wrong';
  text: string;
}

const MARKS = { ok: 'ok   ', note: 'note ', wrong: 'WRONG' } as const;
const MODEL_TIMEOUT_MS = 30_000;
/** Iterative index scans, which filtered vector search needs, came with 0.8. */
const MIN_PGVECTOR = [0, 8] as const;

/** `knowhy doctor`. Returns 1 where something is wrong. */
export const doctorCommand: Command = { help, run };

async function run(args: string[]): Promise<number> {
  readArguments({ args, options: {} });
  const findings: Finding[] = [];
  const report = (finding: Finding) => {
    findings.push(finding);
    process.stdout.write(`${MARKS[finding.kind]}  ${finding.text}\n`);
  };
  report({ kind: 'ok', text: `Node.js ${process.versions.node}` });
  const config = await attempt(report, 'settings', async () => loadSettings());
  if (config) await checkEnvironment(config, report);
  return findings.some((finding) => finding.kind === 'wrong') ? 1 : 0;
}

async function checkEnvironment(config: Config, report: (finding: Finding) => void): Promise<void> {
  report({ kind: 'ok', text: 'settings: all of them are valid' });
  const writable = await attempt(report, 'data folder', async () => {
    await mkdir(config.dataDir, { recursive: true, mode: 0o700 });
    await access(config.dataDir, constants.W_OK);
    return config.dataDir;
  });
  if (!writable) return;
  report({ kind: 'ok', text: `data folder: ${config.dataDir}` });
  const owner = config.databaseUrl === null ? await findDataFolderOwner(config.dataDir) : null;
  if (owner) {
    const where = owner.address ? ` at ${owner.address.url}` : '';
    report({ kind: 'note', text: `database: in use by process ${owner.pid}${where}; stop it to check the database` });
    return;
  }
  const services = await attempt(report, 'database', () =>
    // Nothing is started ahead for a look.
    compose({
      config: { ...config, python: { ...config.python, prewarm: 0 } },
      log: commandLog('silent'),
      onLost: () => process.exit(1),
    }),
  );
  if (!services) return;
  try {
    await checkDatabase(services, report);
    await checkModels(services.models, report);
    for (const finding of judgeSandbox(await services.python.describe(), config.python)) report(finding);
  } finally {
    await services.close();
  }
}

async function checkDatabase({ database }: Services, report: (finding: Finding) => void): Promise<void> {
  const description = await attempt(report, 'database', () => describeDatabase(database));
  if (description) report(judgeDatabase(database.engine, description));
  if (database.engine === 'pglite') {
    report({
      kind: 'note',
      text: 'the embedded database survives a killed process, not a power cut: back it up, or set DATABASE_URL',
    });
  }
}

/** Says what the database is; wrong where its pgvector is older than 0.8 or missing. */
export function judgeDatabase(engine: DatabaseEngine, { serverVersion, vectorVersion }: DatabaseDescription): Finding {
  const text = `database: ${engine === 'pglite' ? 'embedded' : 'PostgreSQL'} ${serverVersion}, pgvector ${vectorVersion ?? 'missing'}`;
  const [major = 0, minor = 0] = (vectorVersion ?? '').split('.').map(Number);
  const [minMajor, minMinor] = MIN_PGVECTOR;
  if (major > minMajor || (major === minMajor && minor >= minMinor)) {
    return { kind: 'ok', text: `${text}, every script applied` };
  }
  const advice = 'install it on the server and run: alter extension vector update';
  return { kind: 'wrong', text: `${text}, but ${minMajor}.${minMinor} or newer is needed: ${advice}` };
}

/** Asks every configured model a little, in each form the program uses, and reports what it answered and refused. */
export async function checkModels(models: Models, report: (finding: Finding) => void): Promise<void> {
  for (const model of new Set([models.answer, models.auxiliary])) {
    if (model.offline) {
      report({ kind: 'note', text: 'answers: offline, quoted from the documents; set kb.chat.* to use a model' });
      continue;
    }
    await attempt(report, `model ${model.name}`, async () => report(await askModel(model)));
  }
  const { embedder } = models;
  if (embedder === null) {
    report({ kind: 'note', text: 'search: offline, by keywords; set kb.embedding.* to use vectors' });
    return;
  }
  await attempt(report, `embedding model ${embedder.model}`, async () => report(await askEmbedder(embedder)));
}

/** As text and as JSON (R18): only a request with `response_format` shows whether that is refused. */
async function askModel(model: ChatModel): Promise<Finding> {
  const ask = (content: string, responseFormat: 'text' | 'json_object') =>
    model.generate({
      task: { kind: 'rewrite', question: 'ping', summary: '', rounds: [] },
      messages: [{ role: 'user', content }],
      maxTokens: 64,
      thinking: 'disabled',
      responseFormat,
      signal: AbortSignal.timeout(MODEL_TIMEOUT_MS),
    });
  const { finishReason } = await ask('Reply with the word pong.', 'text');
  await ask('Reply with the JSON object {"reply": "pong"} and nothing else.', 'json_object');
  const refused = model instanceof UniChatClient ? model.refusedFields() : [];
  return { kind: 'ok', text: `model ${model.name}: answers (${finishReason})${refusal(refused)}` };
}

/** Past the cache, which would answer for a service that is gone. */
async function askEmbedder(embedder: Embedder): Promise<Finding> {
  const service = embedder instanceof CachedEmbedder ? embedder.uncached : embedder;
  const [vector] = await service.embed(['ping'], AbortSignal.timeout(MODEL_TIMEOUT_MS));
  const refused = service instanceof RemoteEmbedder ? service.refusedFields() : [];
  return { kind: 'ok', text: `embedding model ${service.model}: ${vector?.length} dimensions${refusal(refused)}` };
}

/** Says what Python functions run in. Without an engine that anybody asked for it is no fault: answers need none. */
export function judgeSandbox(state: SandboxState, config: Config['python']): Finding[] {
  if (state.kind === 'unavailable') {
    const isAskedFor =
      config.wslDistribution !== null ||
      config.dockerHost !== null ||
      config.docker !== 'docker' ||
      config.runtime !== null ||
      config.network !== 'none' ||
      config.image !== DEFAULT_PYTHON_IMAGE;
    const isMissing = state.code === 'sandbox_unavailable' || state.code === 'sandbox_image_missing';
    return [{ kind: isMissing && !isAskedFor ? 'note' : 'wrong', text: `python functions: ${state.message}` }];
  }
  const { engine, engineVersion, image, pythonVersion, notes } = state;
  const text = `python functions: ${engine} ${engineVersion}, ${image} with Python ${pythonVersion}, every wall and limit read back`;
  return [{ kind: 'ok', text }, ...notes.map((note) => ({ kind: 'note' as const, text: `python functions: ${note}` }))];
}

function refusal(fields: readonly string[]): string {
  return fields.length > 0 ? `; the provider refuses ${fields.join(', ')}` : '';
}

async function attempt<T>(
  report: (finding: Finding) => void,
  name: string,
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    report({ kind: 'wrong', text: `${name}: ${explain(error)}` });
    return undefined;
  }
}
