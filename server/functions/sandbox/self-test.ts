import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { PythonConfig } from '../../config.ts';
import { SandboxError } from '../sandbox-error.ts';
import type { ContainerEngine } from './container-engine.ts';
import { sandboxFolder } from './engine-command.ts';
import { readOutcome } from './read-outcome.ts';
import { OPEN_FILES, TMP_BYTES, TMP_FILES } from './run-arguments.ts';
import { RunnerContainer } from './runner-container.ts';
import { dataBytes } from './runner-job.ts';

const PROBE_TIMEOUT_MS = 15_000;

const limit = z.string().nullable();
/** What probe.py reads inside the container. */
export const probeReading = z.object({
  python: z.string(),
  ids: z.array(z.number()),
  groups: z.array(z.number()),
  capabilities: z.array(z.string()),
  no_new_privileges: z.string(),
  seccomp: z.string(),
  root_mode: z.string().nullable(),
  writable: z.array(z.tuple([z.string(), z.array(z.string())])),
  tmp_bytes: z.number(),
  tmp_files: z.number(),
  interfaces: z.array(z.string()),
  vsock: z.string(),
  inet: z.string(),
  supervisor: z.string(),
  memory: limit,
  swap: limit,
  memory_and_swap: limit,
  pids: limit,
  cpu: limit,
  cpu_quota: limit,
  cpu_period: limit,
  open_files: z.number(),
  core: z.number(),
  environment: z.array(z.string()),
  sockets: z.array(z.string()),
});
export type ProbeReading = z.infer<typeof probeReading>;

/** The engine as it passed. `imageId` is what may run from now on. */
export interface TestedEngine {
  engineVersion: string;
  imageId: string;
  pythonVersion: string;
  notes: string[];
}

/**
 * Starts one container exactly as functions get it, reads every wall and limit back from the inside, and fails closed:
 * engines drop limits that the kernel lacks with no more than a warning. Throws SandboxError naming all that is wrong.
 */
export async function testEngine(engine: ContainerEngine, config: PythonConfig, owner: string): Promise<TestedEngine> {
  const engineVersion = await engine.version();
  const image = await engine.inspectImage(config.image);
  if (image.volumes.length > 0) {
    throw new SandboxError(
      'sandbox_unsafe',
      `The image ${config.image} declares the volume ${image.volumes.join(', ')}: a function could write to the disk there. ` +
        'Name an image without VOLUME in kb.python.image.',
    );
  }
  const { reading, words } = await probe(engine, { config, owner, image: image.id });
  const { problems, notes } = judgeReading(reading, config);
  const warnings = words.match(/^WARNING:.*(limit|swap|cgroup|support|discard).*$/gim) ?? [];
  if (problems.length + warnings.length > 0) {
    throw new SandboxError(
      'sandbox_unsafe',
      `The container engine (${engine.name} ${engineVersion}) does not hold what functions need: ${[...problems, ...warnings].join('; ')}. ` +
        'No function runs until it does; see docs/security-python.md.',
    );
  }
  return { engineVersion, imageId: image.id, pythonVersion: reading.python, notes };
}

async function probe(
  engine: ContainerEngine,
  { config, owner, image }: { config: PythonConfig; owner: string; image: string },
): Promise<{ reading: ProbeReading; words: string }> {
  const code = readFileSync(join(sandboxFolder(), 'probe.py'), 'utf8');
  const container = new RunnerContainer(engine, { owner, image, ahead: false });
  const end = await container.run(
    { mode: 'call', code, entrypoint: 'probe', arguments: {}, result_bytes: 65_536, data_bytes: dataBytes(config) },
    { timeoutMs: PROBE_TIMEOUT_MS, signal: new AbortController().signal },
  );
  await container.gone;
  if (end.kind === 'failed' && end.error instanceof SandboxError) throw end.error;
  const asked = { code, entrypoint: 'probe', timeoutMs: PROBE_TIMEOUT_MS, memoryBytes: 0 };
  const outcome = end.kind === 'frame' ? readOutcome(end.frame, asked) : end;
  const reading = probeReading.safeParse(outcome.kind === 'value' ? outcome.value : null);
  if (reading.success) return { reading: reading.data, words: container.engineWords() };
  throw new SandboxError(
    'sandbox_unsafe',
    `The self-test of the sandbox did not run: ${JSON.stringify(outcome).slice(0, 500)} ${container.engineWords().slice(0, 500)}`,
  );
}

/** gVisor and Kata Containers, under the names that their guides give them. */
const SANDBOX_RUNTIMES = /runsc|gvisor|kata/i;

/** Every wall that does not stand and every limit that was not set, in words; pure. */
export function judgeReading(
  reading: ProbeReading,
  config: Pick<PythonConfig, 'network' | 'runtime' | 'memoryMiB' | 'pids' | 'cpus'>,
): { problems: string[]; notes: string[] } {
  const problems = [...wallProblems(reading, config.network)];
  const notes: string[] = [];
  // These are walls of their own, which show neither seccomp nor cgroups inside; a plain runtime has to show them.
  const hidden = config.runtime !== null && SANDBOX_RUNTIMES.test(config.runtime) ? notes : problems;
  if (reading.seccomp !== '2') hidden.push(`no seccomp filter (Seccomp: ${reading.seccomp || 'unknown'})`);
  if (reading.no_new_privileges !== '1') hidden.push('no-new-privileges is not set');
  if (reading.supervisor === 'allowed')
    hidden.push("the runner's memory is open to functions (the image's python has no ctypes?)");
  for (const [name, wanted, found] of limits(reading, config)) {
    if (found === null) hidden.push(`${name} cannot be read back`);
    else if (found !== wanted) problems.push(`${name} is ${found}, not ${wanted}`);
  }
  return { problems, notes: notes.map((note) => `runtime ${config.runtime}: ${note}`) };
}

function wallProblems(reading: ProbeReading, network: string): string[] {
  const wrong: [boolean, string][] = [
    [reading.ids.some((id) => id !== 65_534), `functions run as ${reading.ids.join(' ')}, not as 65534`],
    [reading.groups.length > 0, `functions are in the groups ${reading.groups.join(' ')}`],
    [
      reading.capabilities.some((set) => /[1-9a-f]/.test(set)),
      `capabilities are left (${reading.capabilities.join(' ')})`,
    ],
    [reading.root_mode !== 'ro', 'the root file system is writable'],
    [reading.sockets.length > 0, `the engine's socket is inside (${reading.sockets.join(' ')})`],
    [reading.vsock === 'allowed', 'sockets to the hypervisor (AF_VSOCK) are open'],
    [reading.core !== 0, 'core dumps are on'],
  ];
  if (network === 'none') {
    const others = reading.interfaces.filter((name) => name !== 'lo');
    wrong.push([others.length > 0, `there is a network (${others.join(' ')})`]);
    wrong.push([reading.inet === 'allowed', 'internet sockets are open']);
  }
  const places = reading.writable.filter(([path]) => path !== '/tmp').map(([path]) => path);
  wrong.push([places.length > 0, `more than /tmp is writable (${places.join(' ')})`]);
  const tmp = reading.writable.find(([path]) => path === '/tmp')?.[1] ?? [];
  const missing = ['noexec', 'nosuid', 'nodev'].filter((option) => !tmp.includes(option));
  wrong.push([missing.length > 0, `/tmp lacks ${missing.join(' ')}`]);
  return wrong.filter(([isWrong]) => isWrong).map(([, words]) => words);
}

/** Name, what was configured, what was found; null where it cannot be read. */
function limits(
  reading: ProbeReading,
  config: Pick<PythonConfig, 'memoryMiB' | 'pids' | 'cpus'>,
): [string, string, string | null][] {
  const memory = String(config.memoryMiB * 1024 * 1024);
  // cgroup v2 counts swap apart, v1 together with memory.
  const swap: [string, string, string | null] =
    reading.memory_and_swap === null
      ? ['the swap limit', '0', reading.swap]
      : ['the limit of memory with swap', memory, reading.memory_and_swap];
  const [quota, period] = reading.cpu?.split(' ') ?? [reading.cpu_quota, reading.cpu_period];
  const cpus = quota && period ? String(Number(quota) / Number(period)) : null;
  return [
    ['the memory limit', memory, reading.memory],
    swap,
    ['the limit of processes', String(config.pids), reading.pids],
    ['the limit of processors', String(config.cpus), cpus],
    ['the size of /tmp', String(TMP_BYTES), String(reading.tmp_bytes)],
    ['the number of files in /tmp', String(TMP_FILES), String(reading.tmp_files)],
    ['the limit of open files', String(OPEN_FILES), String(reading.open_files)],
  ];
}
