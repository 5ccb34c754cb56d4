import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { z } from 'zod';
import type { PythonConfig } from '../../config.ts';
import { SandboxError } from '../sandbox-error.ts';
import type { ContainerEngine, ImageFacts, Launch, ListedContainer } from './container-engine.ts';
import { endClient } from './end-client.ts';
import type { EngineCommand } from './engine-command.ts';
import { engineFailure, outputText } from './engine-failure.ts';
import { OWNER_LABEL, runArguments } from './run-arguments.ts';

/** Of one call of the CLI; a WSL distribution may have to start first. */
const CALL_TIMEOUT_MS = 30_000;
const MAX_OUTPUT_BYTES = 1024 * 1024;

const imageInspection = z.object({
  Id: z.string().min(1),
  Config: z.object({ Volumes: z.record(z.string(), z.unknown()).nullish() }).nullish(),
});

/** The container engine through the Docker CLI, native or in a WSL distribution (R108, R109). */
export class CliEngine implements ContainerEngine {
  readonly name: string;
  readonly #command: EngineCommand;
  readonly #config: PythonConfig;

  constructor(command: EngineCommand, config: PythonConfig) {
    this.name = command.name;
    this.#command = command;
    this.#config = config;
  }

  async version(): Promise<string> {
    const version = (await this.#call(['version', '--format', '{{.Server.Version}}'])).trim();
    if (/^\d+\.\d\S*$/.test(version)) return version;
    const said = JSON.stringify(version.slice(0, 100));
    throw new SandboxError(
      'sandbox_unavailable',
      `${this.name} gave no version but ${said}: kb.python.docker has to be the CLI of Docker.`,
    );
  }

  async inspectImage(image: string): Promise<ImageFacts> {
    const text = await this.#call(['image', 'inspect', '--format', '{{json .}}', image]);
    const { Id, Config } = imageInspection.parse(JSON.parse(text));
    return { id: Id, volumes: Object.keys(Config?.Volumes ?? {}) };
  }

  /** Throws SandboxError where no process can be started at all. */
  launch(launch: Launch): ChildProcessWithoutNullStreams {
    return this.#spawn(runArguments({ ...launch, config: this.#config, profileFolder: this.#command.profileFolder }));
  }

  async remove(containers: readonly string[]): Promise<void> {
    // Each in a call of its own: of several that fail in one, the CLI does not say which did for what reason.
    const failures: unknown[] = [];
    for (const container of containers) {
      await this.#call(['rm', '-f', container]).catch((error: unknown) => failures.push(error));
    }
    const failed = failures.find((error) => !/no such container|already in progress/i.test(String(error)));
    if (failed !== undefined) throw failed;
  }

  async list(): Promise<ListedContainer[]> {
    const format = `{{.ID}}\t{{.Label "${OWNER_LABEL}"}}\t{{.CreatedAt}}`;
    const text = await this.#call(['ps', '-a', '--no-trunc', '--filter', `label=${OWNER_LABEL}`, '--format', format]);
    return text
      .split('\n')
      .map((line) => line.split('\t'))
      .flatMap(([id, owner, created]) =>
        id && owner !== undefined ? [{ id, owner, ageMs: Date.now() - creationTime(created ?? '') }] : [],
      );
  }

  #spawn(args: readonly string[]): ChildProcessWithoutNullStreams {
    const child = spawn(this.#command.file, [...this.#command.prefix, ...args], {
      env: this.#command.environment,
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
    });
    if (child.stdin) return child;
    // Without a free file descriptor there are no streams, whatever the types say, and the error comes as an event.
    child.on('error', () => {});
    const startError: NodeJS.ErrnoException = Object.assign(new Error('no free file descriptor'), { code: 'EMFILE' });
    throw engineFailure({ engine: this.name, text: '', startError });
  }

  /** Standard output of one call. Throws SandboxError where it fails, says too much or takes too long. */
  #call(args: readonly string[]): Promise<string> {
    return new Promise((resolve, reject) => {
      const child = this.#spawn(args);
      const fail = (details: { text: string; startError?: NodeJS.ErrnoException }) => {
        clearTimeout(timer);
        reject(engineFailure({ engine: this.name, ...details }));
      };
      // A child of the client may hold its pipes open for ever: nobody waits for their end.
      const giveUp = (text: string) => {
        endClient(child);
        fail({ text });
      };
      const timer = setTimeout(
        () => giveUp(`error during connect: no answer within ${CALL_TIMEOUT_MS} ms`),
        CALL_TIMEOUT_MS,
      );
      const tooMuch = () => giveUp(`more than ${MAX_OUTPUT_BYTES} bytes, which is no answer`);
      const [stdout, stderr] = [collect(child.stdout, tooMuch), collect(child.stderr, tooMuch)];
      child.stdin.on('error', () => {}).end();
      child.on('error', (startError) => fail({ text: '', startError }));
      child.on('close', (code, signal) => {
        clearTimeout(timer);
        if (code === 0) resolve(outputText(stdout()));
        else fail({ text: outputText(stderr()) || outputText(stdout()) || `the client ended (${signal ?? code})` });
      });
    });
  }
}

/** `2026-12-02 09:20:00 +0000 UTC`; an unreadable one counts as new, so that nobody's container is taken for old. */
function creationTime(text: string): number {
  const time = Date.parse(text.replace(/ [A-Z]+$/, ''));
  return Number.isNaN(time) ? Date.now() : time;
}

function collect(stream: NodeJS.ReadableStream, onTooMuch: () => void): () => Buffer {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > MAX_OUTPUT_BYTES) onTooMuch();
    else chunks.push(chunk);
  });
  return () => Buffer.concat(chunks);
}
