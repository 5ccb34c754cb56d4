import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWithEngine, openSandbox, pythonConfig, pythonRun } from '../../testing/python-sandbox.ts';
import { type PythonRun, type RunOutcome, SANDBOX_LIMITS } from '../python-sandbox.ts';
import { CliEngine } from './cli-engine.ts';
import { engineCommand } from './engine-command.ts';
import { RunnerContainer } from './runner-container.ts';
import { dataBytes } from './runner-job.ts';

const sandbox = openSandbox();
afterAll(() => sandbox.close());

const run = (code: string, changes?: Partial<PythonRun>): Promise<RunOutcome> => sandbox.run(pythonRun(code, changes));

/** What a function sees of its walls, each as a name of an error or a reading. */
const LOOK = `
import ctypes, errno, os, socket, sys
def attempt(action):
    try:
        return ['allowed', str(action())]
    except OSError as error:
        return errno.errorcode[error.errno]
def look():
    status = dict(line.split(':', 1) for line in open('/proc/self/status'))
    return {
        'ids': list(os.getresuid() + os.getresgid()),
        'capabilities': [status[name].strip() for name in ('CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb')],
        'nnp': status['NoNewPrivs'].strip(), 'seccomp': status['Seccomp'].strip(),
        'setuid': attempt(lambda: os.setuid(0)),
        'writes': [attempt(lambda: open(path, 'w')) for path in ('/x', '/etc/passwd', '/usr/x', '/run/x', '/dev/shm/x', '/home/x')],
        'tmp': attempt(lambda: open('/tmp/x', 'w').write('x')),
        'exec': attempt(lambda: (os.chmod('/tmp/x', 0o755), os.execv('/tmp/x', ['x']))),
        'sockets': [attempt(lambda: socket.socket(family, socket.SOCK_STREAM)) for family in (2, 10, 16, 17, 38, 40)],
        'interfaces': os.listdir('/sys/class/net'),
        'environment': sorted(os.environ),
        'docker': [path for path in ('/var/run/docker.sock', '/run/docker.sock', '/.dockerenv.sock') if os.path.exists(path)],
        'mounts': [path for path in (line.split()[4] for line in open('/proc/self/mountinfo')) if os.path.isdir(path) and os.access(path, os.W_OK)],
    }
`;

describeWithEngine('R119 the walls around a function', () => {
  let seen: Record<string, unknown>;

  beforeAll(async () => {
    process.env['KB_CHAT_API_KEY'] = 'sk-secret';
    const outcome = await run(LOOK);
    // The value is the dict that LOOK returns; anything else fails the first test that reads it.
    seen = (outcome.kind === 'value' ? outcome.value : { failed: outcome }) as Record<string, unknown>;
  });
  afterAll(() => {
    delete process.env['KB_CHAT_API_KEY'];
  });

  it('R95 run as 65534:65534', () => {
    expect(seen).toMatchObject({ ids: Array(6).fill(65_534), setuid: 'EPERM' });
  });

  it('R96 R97 have no capability and gain none', () => {
    expect(seen).toMatchObject({ capabilities: Array(5).fill('0'.repeat(16)), nnp: '1', seccomp: '2' });
  });

  it('R94 R100 make the root read-only and leave /tmp, where nothing can be executed', () => {
    expect(seen['writes']).not.toContainEqual(expect.arrayContaining(['allowed']));
    expect(seen).toMatchObject({ tmp: ['allowed', '1'], exec: 'EACCES' });
  });

  it('R93 open no socket beyond the container, nor to the hypervisor', () => {
    expect(seen).toMatchObject({ sockets: Array(6).fill('EPERM'), interfaces: ['lo'] });
  });

  it('R101 R102 show neither the engine nor any setting of the server', () => {
    const environment = seen['environment'] as string[];

    expect(seen['docker']).toEqual([]);
    expect(environment.filter((name) => !/^(PATH|HOSTNAME|HOME|LANG|LC_CTYPE|PYTHON\w*)$/.test(name))).toEqual([]);
    expect((seen['mounts'] as string[]).filter((path) => path !== '/dev/mqueue')).toEqual(['/tmp']);
  });

  it('R98 keep a function from slowing or limiting the supervisor', async () => {
    const code = `import os, resource
def attempt(call, *args):
    try: call(*args)
    except PermissionError: return 'refused'
    return 'done'
def f():
    return [attempt(os.setpriority, os.PRIO_PROCESS, 1, 19), attempt(os.setpriority, os.PRIO_USER, 0, 19),
            attempt(os.sched_setaffinity, 1, {0}), attempt(os.setpriority, os.PRIO_PROCESS, 0, 5), attempt(os.sched_setaffinity, 0, {0}),
            attempt(resource.prlimit, 1, resource.RLIMIT_CPU, (0, 0)), attempt(resource.setrlimit, resource.RLIMIT_NOFILE, (99, 99))]`;

    expect(await run(code)).toMatchObject({
      value: ['refused', 'refused', 'refused', 'done', 'done', 'refused', 'done'],
    });
  });

  it('R98 stop the sixty-fourth process, and say so to the function', async () => {
    const outcome = await run(
      'import os, time\ndef f():\n    n = 0\n    try:\n        while n < 500:\n            if os.fork() == 0: time.sleep(60); os._exit(0)\n            n += 1\n    except BlockingIOError:\n        return n',
    );

    expect(outcome).toMatchObject({ kind: 'value' });
    expect(outcome.kind === 'value' && outcome.value).toBeLessThan(64);
  });

  it('R98 end a function that takes too much memory, whether Python or the kernel notices', async () => {
    const noticed = await run('def f():\n    x = []\n    while True: x.append("a" * 10**6 + str(len(x)))');
    const killed = await run(
      'import mmap\ndef f():\n    m = mmap.mmap(-1, 1 << 30)\n    for i in range(0, 1 << 30, 4096): m[i] = 1',
    );

    expect(noticed).toMatchObject({ kind: 'memory', limitBytes: 256 * 1024 * 1024, line: 3 });
    expect(killed).toMatchObject({ kind: 'memory', limitBytes: 256 * 1024 * 1024 });
  });

  it('R100 fill /tmp at 16 MiB and at its number of files', async () => {
    const bytes = await run(
      'import os\ndef f():\n    try:\n        with open("/tmp/x", "wb", 0) as h:\n            while True: h.write(b"x" * 65536)\n    except OSError as e:\n        return [os.path.getsize("/tmp/x"), e.errno]',
    );
    const files = await run(
      'def f():\n    n = 0\n    try:\n        while True: open("/tmp/%d" % n, "w").close(); n += 1\n    except OSError as e:\n        return [n, e.errno]',
    );

    expect(bytes).toMatchObject({ kind: 'value', value: [16 * 1024 * 1024, 28] });
    expect(files).toMatchObject({ kind: 'value', value: [4095, 28] });
  });

  it('R99 keep 8 KiB of a gigabyte that is printed, in flat memory of the server', async () => {
    const before = process.memoryUsage().rss;

    const outcome = await run(
      'import os\ndef f():\n    for _ in range(16384): os.write(1, b"x" * 65536)\n    return 1',
      {
        timeoutMs: 60_000,
      },
    );

    expect(outcome).toMatchObject({ kind: 'value', value: 1, outputTruncated: true });
    expect(outcome.stdout.length).toBe(SANDBOX_LIMITS.logBytes);
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024);
  });

  it('R99 take code of 64 KiB, a request of 128 KiB, a value of 256 KiB, 8 KiB printed, and not a byte more', async () => {
    const code = (size: number) => 'def f(**k): return 1\n#'.padEnd(size, 'x');
    const bare = { code: 'def f(**k): return 1', entrypoint: null };
    const wrapped = Buffer.byteLength(JSON.stringify({ ...bare, arguments: { a: '' } }));
    const request = (size: number) => run(bare.code, { arguments: { a: 'x'.repeat(size - wrapped) } });
    // Bytes of UTF-8: 字 takes three, the quotes two.
    const value = (size: number) => run('def f(n): return "字" + "x" * (n - 5)', { arguments: { n: size } });
    const print = (size: number) =>
      run(`import sys\ndef f():\n    sys.stderr.write("e" * 8000)\n    sys.stdout.write("o" * ${size - 8000})`);
    const { codeBytes, requestBytes, resultBytes, logBytes } = SANDBOX_LIMITS;

    expect(await run(code(codeBytes))).toMatchObject({ kind: 'value' });
    expect(await run(code(codeBytes + 1))).toMatchObject({ kind: 'limit', limit: 'code', foundBytes: codeBytes + 1 });
    expect(await request(requestBytes)).toMatchObject({ kind: 'value' });
    expect(await request(requestBytes + 1)).toMatchObject({
      kind: 'limit',
      limit: 'request',
      foundBytes: requestBytes + 1,
    });
    expect(await value(resultBytes)).toMatchObject({ kind: 'value' });
    expect(await value(resultBytes + 1)).toMatchObject({ kind: 'limit', limit: 'result', foundBytes: resultBytes + 1 });
    expect(await print(logBytes)).toMatchObject({ outputTruncated: false });
    expect(await print(logBytes + 1)).toMatchObject({ outputTruncated: true });
  });

  it('hide the nonce of a run from its function, which can search all of its own memory', async () => {
    const config = pythonConfig();
    const engine = new CliEngine(engineCommand(config, process.env), config);
    const { id } = await engine.inspectImage(config.image);
    const scan = async (given: string | null) => {
      const container = new RunnerContainer(engine, { owner: 'test.0.0.0', image: id, ahead: false });
      const half = container.nonce.length / 2;
      // Given in halves, so that the pattern itself is not what is found.
      const halves =
        given === null
          ? [container.nonce.slice(0, half), container.nonce.slice(half)]
          : [given.slice(0, half), given.slice(half)];
      const end = await container.run(
        {
          mode: 'call',
          code: SCAN,
          entrypoint: 'f',
          arguments: { halves, planted: given },
          result_bytes: 1024,
          data_bytes: dataBytes(config),
        },
        { timeoutMs: 30_000, signal: new AbortController().signal },
      );
      await container.gone;
      return end.kind === 'frame' ? end.frame.worker.toString() : end;
    };

    expect(await scan(null)).toBe('{"ok":true,"result":0}');
    expect(await scan('0123456789abcdef0123456789abcdef')).toMatch(/"result":[1-9]/);
  });
});

const SCAN = `
import ctypes
def f(halves, planted):
    found = 0
    for line in open('/proc/self/maps'):
        place, mode = line.split()[:2]
        if not mode.startswith('rw'): continue
        low, high = (int(part, 16) for part in place.split('-'))
        try:
            with open('/proc/self/mem', 'rb', 0) as memory:
                memory.seek(low)
                data = memory.read(min(high - low, 16 << 20))
        except (OSError, ValueError, OverflowError): continue
        at = data.find(halves[0].encode())
        while at >= 0:
            found += data[at + 16:at + 32] == halves[1].encode()
            at = data.find(halves[0].encode(), at + 1)
    return found
`;
