import { access, constants, mkdir } from 'node:fs/promises';
import type { Config } from '../config.ts';
import { findDataFolderOwner } from '../data-folder.ts';
import { compose, type Services } from '../main.ts';
import { UniChatClient } from '../models/uni-chat-client.ts';
import type { Command } from './commands.ts';
import { explain } from './explain.ts';
import { commandLog, loadSettings, readArguments } from './load.ts';

const help = `Usage: npm run -s knowhy -- doctor

Checks the settings, the data folder, the database and the models, one line each, and says what to do.
Exit code: 0 all well, 1 something is wrong.`;

/** A check's outcome; `note` is something to know that is no fault. */
interface Finding {
  kind: 'ok' | 'note' | 'wrong';
  text: string;
}

const MARKS = { ok: 'ok   ', note: 'note ', wrong: 'WRONG' } as const;
const MODEL_TIMEOUT_MS = 30_000;

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
    compose({ config, log: commandLog('silent'), onFolderLost: () => process.exit(1) }),
  );
  if (!services) return;
  try {
    await checkDatabase(services, report);
    await checkModels(services, report);
  } finally {
    await services.close();
  }
}

async function checkDatabase({ database }: Services, report: (finding: Finding) => void): Promise<void> {
  const [found] = await database.query<{ version: string; vector: string }>(
    `select current_setting('server_version') as version, (select extversion from pg_extension where extname = 'vector') as vector`,
  );
  const engine = database.engine === 'pglite' ? 'embedded' : 'PostgreSQL';
  report({
    kind: 'ok',
    text: `database: ${engine} ${found?.version}, pgvector ${found?.vector}, every script applied`,
  });
  if (database.engine === 'pglite') {
    report({
      kind: 'note',
      text: 'the embedded database survives a killed process, not a power cut: back it up, or set DATABASE_URL',
    });
  }
}

async function checkModels({ models }: Services, report: (finding: Finding) => void): Promise<void> {
  const signal = () => AbortSignal.timeout(MODEL_TIMEOUT_MS);
  for (const model of new Set([models.answer, models.auxiliary])) {
    if (model.offline) {
      report({ kind: 'note', text: 'answers: offline, quoted from the documents; set kb.chat.* to use a model' });
      continue;
    }
    await attempt(report, `model ${model.name}`, async () => {
      const reply = await model.generate({
        task: { kind: 'rewrite', question: 'ping', summary: '', rounds: [] },
        messages: [{ role: 'user', content: 'Reply with the word pong.' }],
        maxTokens: 64,
        thinking: 'disabled',
        responseFormat: 'text',
        signal: signal(),
      });
      const refused = model instanceof UniChatClient ? model.refusedFields() : [];
      const without = refused.length > 0 ? `; the provider refuses ${refused.join(', ')}` : '';
      report({ kind: 'ok', text: `model ${model.name}: answers (${reply.finishReason})${without}` });
    });
  }
  const { embedder } = models;
  if (embedder === null) {
    report({ kind: 'note', text: 'search: offline, by keywords; set kb.embedding.* to use vectors' });
    return;
  }
  await attempt(report, `embedding model ${embedder.model}`, async () => {
    const [vector] = await embedder.embed([`ping ${Date.now()}`], signal());
    report({ kind: 'ok', text: `embedding model ${embedder.model}: ${vector?.length} dimensions` });
  });
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
