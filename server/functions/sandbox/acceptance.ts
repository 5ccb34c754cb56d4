import type { PythonSandbox, RunOutcome } from '../python-sandbox.ts';

/** One thing that a function must or must not be able to do. */
interface Check {
  name: string;
  code: string;
  timeoutMs?: number;
  isFine(outcome: RunOutcome): boolean;
}

export interface CheckedRun {
  name: string;
  isFine: boolean;
  /** What came instead, shortened; empty where all is well. */
  found: string;
}

const gives = (value: unknown) => (outcome: RunOutcome) =>
  outcome.kind === 'value' && JSON.stringify(outcome.value) === JSON.stringify(value);

/** A place that belongs to the root user proves nothing; what counts is the mode of the mount. */
const ROOT_MODE = `
def f():
    for path in ('/x', '/etc/x', '/usr/x'):
        try:
            open(path, 'w')
            return 'written ' + path
        except OSError: pass
    return [line.split()[5].split(',')[0] for line in open('/proc/self/mountinfo') if line.split()[4] == '/'][-1]`;

const CONNECT = `
import socket
def f():
    for family, address in ((2, ('1.1.1.1', 53)), (2, ('169.254.169.254', 80)), (10, ('2606:4700:4700::1111', 53)), (40, (2, 22))):
        try:
            s = socket.socket(family, socket.SOCK_STREAM)
            s.settimeout(2)
            s.connect(address)
            return 'connected to %s' % (address,)
        except OSError: pass
    try: return socket.gethostbyname('example.com')
    except OSError: return 'unreachable'`;

/** `secret`: stands in the server's environment while the checks run. */
function checks(secret: string, hasNetwork: boolean): Check[] {
  const network: Check = {
    name: 'the external network is unreachable (R93)',
    code: CONNECT,
    isFine: gives('unreachable'),
  };
  return [
    {
      name: 'a function gives its value',
      code: 'import json\ndef f(): return json.loads("[1, 2]")',
      isFine: gives([1, 2]),
    },
    {
      name: 'an exception names its line',
      code: 'def f():\n    return 1 / 0',
      isFine: (outcome) => outcome.kind === 'exception' && outcome.type === 'ZeroDivisionError' && outcome.line === 2,
    },
    {
      name: 'the user is 65534:65534 (R95)',
      code: 'import os\ndef f(): return [os.getuid(), os.getgid()]',
      isFine: gives([65_534, 65_534]),
    },
    {
      name: 'secrets of the server are invisible (R102)',
      code: `import os\ndef f(): return [k for k, v in os.environ.items() if ${JSON.stringify(secret)} in v] + [p for p in ('/var/run/docker.sock', '/run/docker.sock', '/mnt/c', '/root/.docker') if os.path.exists(p)]`,
      isFine: gives([]),
    },
    { name: 'the root file system is not writable (R94)', code: ROOT_MODE, isFine: gives('ro') },
    ...(hasNetwork ? [] : [network]),
    {
      name: 'an endless function is ended (R99)',
      code: 'def f():\n    while True: pass',
      timeoutMs: 2000,
      isFine: (outcome) => outcome.kind === 'timeout',
    },
    {
      name: 'too much memory ends the function (R98)',
      code: 'def f():\n    x = []\n    while True: x.append(bytearray(1 << 20))',
      isFine: (outcome) => outcome.kind === 'memory',
    },
  ];
}

/**
 * Runs functions through a sandbox as a server would and checks what they can do. `onChecked` hears of each. Returns how many
 * failed. Throws SandboxError where nothing can run.
 */
export async function acceptSandbox(
  sandbox: PythonSandbox,
  options: { secret: string; hasNetwork: boolean; signal: AbortSignal; onChecked(run: CheckedRun): void },
): Promise<number> {
  let failed = 0;
  for (const check of checks(options.secret, options.hasNetwork)) {
    const outcome = await sandbox.run({
      code: check.code,
      entrypoint: null,
      arguments: {},
      signal: options.signal,
      ...(check.timeoutMs === undefined ? {} : { timeoutMs: check.timeoutMs }),
    });
    const isFine = check.isFine(outcome);
    if (!isFine) failed += 1;
    options.onChecked({ name: check.name, isFine, found: isFine ? '' : JSON.stringify(outcome).slice(0, 400) });
  }
  return failed;
}
