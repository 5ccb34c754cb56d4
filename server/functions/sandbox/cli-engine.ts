import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { z } from 'zod';
import type { PythonConfig } from '../../config.ts';
import type { ContainerEngine, ImageFacts, Launch, ListedContainer } from './container-engine.ts';
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
    return (await this.#call(['version', '--format', '{{.Server.Version}}'])).trim();
  }

  async inspectImage(image: string): Promise<ImageFacts> {
    const text = await this.#call(['image', 'inspect', '--format', '{{json .}}', image]);
    const { Id, Config } = imageInspection.parse(JSON.parse(text));
    return { id: Id, volumes: Object.keys(Config?.Volumes ?? {}) };
  }

  launch(launch: Launch): ChildProcessWithoutNullStreams {
    return this.#spawn(runArguments({ ...launch, config: this.#config, profileFolder: this.#command.profileFolder }));
  }

  async remove(containers: readonly string[]): Promise<void> {
    if (containers.length === 0) return;
    try {
      await this.#call(['rm', '-f', ...containers]);
    } catch (error) {
      if (!/no such container|already in progress/i.test(String(error))) throw error;
    }
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
    return spawn(this.#command.file, [...this.#command.prefix, ...args], {
      env: this.#command.environment,
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
    });
  }

  /** Standard output of one call. Throws SandboxError where it fails or takes too long. */
  #call(args: readonly string[]): Promise<string> {
    return new Promise((resolve, reject) => {
      const child = this.#spawn(args);
      const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
      const timer = setTimeout(() => child.kill('SIGKILL'), CALL_TIMEOUT_MS);
      const fail = (details: { text: string; startError?: NodeJS.ErrnoException }) => {
        clearTimeout(timer);
        reject(engineFailure({ engine: this.name, ...details }));
      };
      child.stdin.on('error', () => {}).end();
      child.on('error', (startError) => fail({ text: '', startError }));
      child.on('close', (code, signal) => {
        if (code === 0) {
          clearTimeout(timer);
          resolve(outputText(stdout()));
        } else if (signal !== null) fail({ text: `error during connect: no answer within ${CALL_TIMEOUT_MS} ms` });
        else fail({ text: outputText(stderr()) || outputText(stdout()) });
      });
    });
  }
}

/** `2026-12-02 09:20:00 +0000 UTC`; an unreadable one counts as new, so that nobody's container is taken for old. */
function creationTime(text: string): number {
  const time = Date.parse(text.replace(/ [A-Z]+$/, ''));
  return Number.isNaN(time) ? Date.now() : time;
}

function collect(stream: NodeJS.ReadableStream): () => Buffer {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on('data', (chunk: Buffer) => {
    if (size < MAX_OUTPUT_BYTES) chunks.push(chunk);
    size += chunk.length;
  });
  return () => Buffer.concat(chunks);
}
