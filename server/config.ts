import { isAbsolute, resolve } from 'node:path';
import { readMyTxt, SettingReader } from './setting-reader.ts';

/** Every setting of the program, checked. Paths are absolute. */
export interface Config {
  dataDir: string;
  docsDir: string | null;
  /** Null: the embedded database in `dataDir`. */
  databaseUrl: string | null;
  http: { host: string; port: number };
  agent: { maxRounds: number; evidenceTokens: number };
  context: { recentTokens: number };
  chat: {
    baseUrl: string | null;
    apiKey: string;
    model: string | null;
    contextTokens: number;
    maxTokens: number;
    agentStatus: boolean;
  };
  auxModel: string | null;
  embedding: { baseUrl: string | null; apiKey: string; model: string | null; dimensions: number | null };
  python: PythonConfig;
}

/** How authors' Python functions run; docs/security-python.md says what each is for. */
export interface PythonConfig {
  /** The Docker CLI: a name on the PATH or a path. */
  docker: string;
  /** Null: the CLI's own default. */
  dockerHost: string | null;
  /** A WSL distribution with a Docker engine of its own, instead of `docker`. */
  wslDistribution: string | null;
  image: string;
  /** `none`, or a network that operations prepared (R104). */
  network: string;
  /** An OCI runtime the engine knows, such as `runsc`; null for its default. */
  runtime: string | null;
  timeoutMs: number;
  memoryMiB: number;
  cpus: number;
  pids: number;
  /** Runs at the same time. */
  concurrency: number;
  /** Containers started ahead of need. */
  prewarm: number;
}

/** What was read, and what a person should know about it: values clamped, keys nobody knows. */
export interface LoadedConfig {
  config: Config;
  notices: string[];
}

/** Every problem of my.txt and the environment, found in one pass. */
export class ConfigError extends Error {
  readonly code = 'bad_config';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The configuration has ${problems.length} problem(s):\n${problems.map((text) => `  - ${text}`).join('\n')}`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** Until there are accounts, whoever reaches the port is the owner: only this machine may. */
const LOOPBACK = ['127.0.0.1', 'localhost', '::1'];

/** What the set-up scripts build. */
export const DEFAULT_PYTHON_IMAGE = 'knowhy-python:local';

/** pgvector's halfvec index ends at 4000 dimensions (R127). */
const MAX_DIMENSIONS = 4000;

/**
 * Reads `my.txt` (key=value, in `folder`) and the environment, which overrides (`kb.agent.max_rounds` →
 * `KB_AGENT_MAX_ROUNDS`; `DATABASE_URL` for `kb.database.url`). Relative paths count from `folder`.
 * Throws ConfigError with every problem at once (R34).
 */
export function loadConfig(folder: string, environment: NodeJS.ProcessEnv): LoadedConfig {
  const file = readMyTxt(folder);
  const reader = new SettingReader(file.settings, environment);
  reader.problems.push(...file.problems);
  const config = readAll(reader, folder);
  checkTogether(config, reader);
  if (reader.problems.length > 0) throw new ConfigError(reader.problems);
  return { config, notices: reader.notices };
}

function readAll(reader: SettingReader, folder: string): Config {
  const path = (text: string) => (isAbsolute(text) ? text : resolve(folder, text));
  const docsDir = reader.text('kb.docs.dir');
  return {
    dataDir: path(reader.text('kb.data.dir') ?? 'data'),
    docsDir: docsDir === null ? null : path(docsDir),
    databaseUrl: reader.url('kb.database.url', ['postgres:', 'postgresql:']),
    http: {
      host: reader.text('kb.http.host') ?? '127.0.0.1',
      port: reader.integer('kb.http.port', { fallback: 8080, min: 0, max: 65_535 }),
    },
    agent: {
      maxRounds: reader.clamped('kb.agent.max_rounds', { fallback: 3, min: 1, max: 6 }),
      evidenceTokens: reader.clamped('kb.agent.evidence_tokens', { fallback: 16_000, min: 1000, max: 24_000 }),
    },
    context: { recentTokens: reader.clamped('kb.context.recent_tokens', { fallback: 6000, min: 512, max: 16_000 }) },
    chat: {
      baseUrl: reader.url('kb.chat.base_url', ['http:', 'https:']),
      apiKey: reader.text('kb.chat.api_key') ?? '',
      model: reader.text('kb.chat.model'),
      contextTokens: reader.integer('kb.chat.context_tokens', { fallback: 32_768, min: 8192, max: 2_000_000 }),
      maxTokens: reader.integer('kb.chat.max_tokens', { fallback: 2048, min: 64, max: 65_536 }),
      agentStatus: reader.onOff('kb.chat.agent_status', true),
    },
    auxModel: reader.text('kb.aux.model'),
    embedding: {
      baseUrl: reader.url('kb.embedding.base_url', ['http:', 'https:']),
      apiKey: reader.text('kb.embedding.api_key') ?? '',
      model: reader.text('kb.embedding.model'),
      dimensions: reader.optionalInteger('kb.embedding.dimensions', { min: 1, max: MAX_DIMENSIONS }),
    },
    python: readPython(reader),
  };
}

/** Names reach a command line as one argument each; what they may hold keeps them from being taken for an option. */
function readPython(reader: SettingReader): PythonConfig {
  return {
    docker: reader.text('kb.python.docker') ?? 'docker',
    dockerHost: reader.engineAddress('kb.python.docker_host'),
    wslDistribution: reader.name('kb.python.wsl.distribution', /^\w[\w.+-]*$/),
    image: reader.name('kb.python.image', /^[\w][\w./:@+-]*$/) ?? DEFAULT_PYTHON_IMAGE,
    network: reader.name('kb.python.network', /^\w[\w.-]*$/) ?? 'none',
    runtime: reader.name('kb.python.runtime', /^\w[\w./-]*$/),
    timeoutMs: 1000 * reader.clamped('kb.python.timeout_seconds', { fallback: 15, min: 1, max: 60 }),
    memoryMiB: reader.integer('kb.python.memory_mib', { fallback: 256, min: 64, max: 65_536 }),
    cpus: reader.integer('kb.python.cpus', { fallback: 1, min: 1, max: 64 }),
    pids: reader.integer('kb.python.pids', { fallback: 64, min: 16, max: 4096 }),
    concurrency: reader.integer('kb.python.concurrency', { fallback: 2, min: 1, max: 64 }),
    prewarm: reader.integer('kb.python.prewarm', { fallback: 2, min: 0, max: 32 }),
  };
}

function checkTogether(config: Config, reader: SettingReader): void {
  const { chat, embedding, http } = config;
  if (!LOOPBACK.includes(http.host)) {
    reader.problems.push(
      `kb.http.host is ${JSON.stringify(http.host)}, but until accounts exist the server answers on loopback only: use 127.0.0.1.`,
    );
  }
  if (chat.baseUrl !== null && chat.model === null) {
    reader.problems.push('kb.chat.base_url is set but kb.chat.model is not: name the model to ask.');
  }
  if (chat.model !== null && chat.baseUrl === null) {
    reader.problems.push('kb.chat.model is set but kb.chat.base_url is not: give the address of the service.');
  }
  if (embedding.baseUrl !== null && embedding.model === null) {
    reader.problems.push('kb.embedding.base_url is set but kb.embedding.model is not: name the model.');
  }
  if (embedding.model !== null && embedding.baseUrl === null) {
    reader.problems.push('kb.embedding.model is set but kb.embedding.base_url is not: give its address.');
  }
  if (config.auxModel !== null && chat.baseUrl === null) {
    reader.problems.push('kb.aux.model is set but kb.chat.base_url is not: both use the same service.');
  }
  if (['host', 'bridge', 'default'].includes(config.python.network)) {
    reader.problems.push(
      `kb.python.network is ${config.python.network}: functions would reach this machine and its network. Use none, or a network made for them.`,
    );
  }
  if (config.python.wslDistribution !== null && config.python.dockerHost !== null) {
    reader.problems.push('kb.python.wsl.distribution and kb.python.docker_host exclude each other.');
  }
  if (chat.maxTokens * 2 > chat.contextTokens) {
    reader.problems.push('kb.chat.max_tokens must be at most half of kb.chat.context_tokens.');
  }
}
