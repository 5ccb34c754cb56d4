import { posix, win32 } from 'node:path';
import type { PythonConfig } from '../../config.ts';

/** `knowhy.sandbox=OWNER` marks every container of ours; see container-owner.ts. */
export const OWNER_LABEL = 'knowhy.sandbox';

export const TMP_BYTES = 16 * 1024 * 1024;
export const TMP_FILES = 4096;
export const OPEN_FILES = 256;

/**
 * Reads as many bytes as the first eight say and runs them: the runner travels over stdin, not in a file (R89). In one
 * line, without double quotes: it passes through command lines of Windows. Its own builtins keep it from what the
 * author's code patches.
 */
const BOOT =
  "import sys;f=open(0,'rb',0);n=int(f.read(8));b=bytes();" +
  "exec('while len(b)<n: b+=f.read(n-len(b)) or sys.exit()');" +
  "exec(compile(b,'<runner>','exec'),{'__builtins__':dict(vars(__builtins__))})";

export interface RunArguments {
  config: Pick<PythonConfig, 'network' | 'runtime' | 'memoryMiB' | 'cpus' | 'pids'>;
  name: string;
  owner: string;
  /** Id of the image that passed the self-test. */
  image: string;
  profileFolder: string;
  /** The container waits for its job: load what functions often use. */
  ahead: boolean;
}

/** The arguments of `docker run` (R93–R102, R110). Each holds a wall that the self-test reads back. */
export function runArguments({ config, name, owner, image, profileFolder, ahead }: RunArguments): string[] {
  const memory = `${config.memoryMiB}m`;
  const profile = profilePath(profileFolder, config.network === 'none' ? 'seccomp.json' : 'seccomp-network.json');
  return [
    ...['run', '--rm', '-i', '--pull=never', '--name', name, '--label', `${OWNER_LABEL}=${owner}`],
    ...['--network', config.network, '--read-only', '--user', '65534:65534', '--cap-drop', 'ALL'],
    ...['--security-opt', 'no-new-privileges', '--security-opt', `seccomp=${profile}`],
    ...(config.runtime === null ? [] : ['--runtime', config.runtime]),
    // The same for memory and swap: no swap (R98).
    ...[
      '--memory',
      memory,
      '--memory-swap',
      memory,
      '--cpus',
      String(config.cpus),
      '--pids-limit',
      String(config.pids),
    ],
    ...['--ulimit', 'core=0:0', '--ulimit', `nofile=${OPEN_FILES}:${OPEN_FILES}`, '--ulimit', 'msgqueue=0:0'],
    // No /dev/shm, which would be a second writable place.
    ...['--ipc', 'none', '--tmpfs', `/tmp:rw,noexec,nosuid,nodev,size=${TMP_BYTES},nr_inodes=${TMP_FILES},mode=1777`],
    ...['--workdir', '/tmp', '--hostname', 'sandbox'],
    // Else the host's name server would stand in resolv.conf. TEST-NET-1, RFC 5737.
    ...(config.network === 'none' ? ['--dns', '192.0.2.1'] : []),
    ...['--log-driver', 'none', '--stop-signal', 'KILL', '--no-healthcheck'],
    ...['--entrypoint', 'python3', image, '-I', '-B', '-X', 'utf8', '-c', BOOT],
    ...(ahead ? ['ahead'] : []),
  ];
}

function profilePath(folder: string, file: string): string {
  return /^[a-z]:\\/i.test(folder) ? win32.join(folder, file) : posix.join(folder, file);
}
