import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { packageRoot } from '../observability/package-root.ts';

/** The build, which `npm test` makes first: what people run, and it starts in a third of the time. */
const CLI = join(packageRoot(), 'dist', 'server', 'cli.js');
const LAWS = join(packageRoot(), 'samples', 'zhlaw');
const HANDBOOK = join(packageRoot(), 'samples', 'handbook');

let dataDir: string;
const running: ChildProcess[] = [];

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'knowhy-cli-'));
  await mkdir(join(dataDir, 'pglite'));
  await cp(inject('pgliteTemplate'), join(dataDir, 'pglite'), { recursive: true });
});
afterEach(async () => {
  for (const child of running.splice(0)) await end(child, 'SIGKILL');
});
afterAll(() => rm(dataDir, { recursive: true, force: true }));

function start(args: string[], environment: NodeJS.ProcessEnv = {}, cwd = packageRoot()) {
  const child = spawn(process.execPath, [CLI, ...args], {
    cwd,
    env: { ...process.env, KB_DATA_DIR: dataDir, KB_HTTP_PORT: '0', INIT_CWD: packageRoot(), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (data) => {
    output.stdout += data;
  });
  child.stderr.on('data', (data) => {
    output.stderr += data;
  });
  running.push(child);
  return { child, output };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const exited = once(child, 'exit');
  child.kill(signal);
  const [code] = await exited;
  return code;
}

async function run(...how: Parameters<typeof start>) {
  const { child, output } = start(...how);
  const [code] = await once(child, 'close');
  return { code, ...output };
}

/** The first answers from a folder, which index it: for its own test, and made for any other that needs them. */
const firstAnswers = new Map<string, ReturnType<typeof run>>();

function firstAnswer(docs: string, ...args: string[]): ReturnType<typeof run> {
  const answer = firstAnswers.get(docs) ?? run(['ask', '--docs', docs, ...args]);
  firstAnswers.set(docs, answer);
  return answer;
}

const askLaws = () => firstAnswer(LAWS, '行政复议一般申请期限是多久？因不可抗力耽误了申请期限怎么办？');
const askHandbook = () => firstAnswer(HANDBOOK, '--json', 'How soon must a stolen device be reported?');

async function serve(args: string[] = []) {
  const { child, output } = start(['serve', ...args]);
  for (let waited = 0; !output.stdout.includes('Stop with Ctrl-C'); waited += 50) {
    if (child.exitCode !== null || waited > 25_000) throw new Error(`the server did not start: ${output.stderr}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const [, url = '', token = ''] = /at (http:\S+)\/ui\/#token=(\S+)/.exec(output.stdout) ?? [];
  return { child, output, url, token };
}

describe('knowhy', { timeout: 60_000 }, () => {
  it('asks a folder of statutes in Chinese and cites the article in force', async () => {
    const { code, stdout } = await askLaws();

    expect(code).toBe(0);
    expect(stdout).toContain('六十日');
    expect(stdout).toContain('障碍消除');
    expect(stdout).toMatch(/\[\d+\] 行政复议法\(2023-09-01\)\.md · .*第二十条/);
    expect(stdout).toContain('停止原因: sufficient');
    expect(stdout).toContain('离线模式');
  });

  it('prints one object with --json and skips unchanged files', async () => {
    await askLaws();

    const { code, stdout, stderr } = await run(['ask', '--docs', LAWS, '--json', '火星上有多少个图书馆？']);

    const answer = JSON.parse(stdout);
    expect(code).toBe(0);
    expect(stderr).toContain('0 indexed, 7 unchanged');
    expect(answer.agent_stop_reason).not.toBe('sufficient');
    expect(answer.answer).toContain('无法核实');
    expect(Object.keys(answer)).toEqual(
      expect.arrayContaining(['answer', 'citations', 'agent_trace', 'agent_stop_reason', 'context_info']),
    );
  });

  it('answers in English with a citation that holds', async () => {
    const { stdout } = await askHandbook();

    const answer = JSON.parse(stdout);
    expect(answer.answer).toContain('within two hours');
    expect(answer.citations[0]).toMatchObject({ document: 'security.md', verified: true });
    expect(answer.agent_stop_reason).toBe('sufficient');
  });

  it.each<[string, string[], number, string]>([
    ['no command', [], 2, 'Usage'],
    ['an unknown command', ['sing'], 2, 'no command "sing"'],
    ['no question', ['ask'], 2, 'give the question'],
    ['two questions', ['ask', 'a', 'b'], 2, 'one question'],
    ['an unknown option', ['ask', '--loud', 'a'], 2, '--loud'],
    ['a blank name of a chat', ['ask', '--chat', ' ', 'a'], 2, '--chat needs a name'],
    ['a folder that is not there', ['ask', '--docs', '/nowhere', 'a'], 1, 'There is no folder /nowhere'],
    ['a file for a folder', ['ask', '--docs', join(HANDBOOK, 'leave.md'), 'a'], 1, 'is a file'],
    ['help', ['ask', '--help'], 0, 'Exit code'],
  ])('ends clearly on %s', async (_name, args, code, words) => {
    const result = await run(args);

    expect(result.code).toBe(code);
    expect(result.stdout + result.stderr).toContain(words);
    expect(result.stderr).not.toMatch(/\n\s+at /);
  });

  it('R34 lists every problem of the environment and of my.txt in the working directory at once', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'knowhy-settings-'));
    await writeFile(join(folder, 'my.txt'), 'just words\nkb.http.host=0.0.0.0\n');

    const result = await run(['serve'], { KB_HTTP_PORT: 'x', KB_CHAT_MODEL: 'm' }, folder);

    expect(result.code).toBe(1);
    for (const problem of ['my.txt line 1', 'loopback only', 'kb.http.port', 'kb.chat.base_url']) {
      expect(result.stderr).toContain(problem);
    }
    await rm(folder, { recursive: true });
  });

  it('refuses a second server on the folder in one line, and ask goes to the first', async () => {
    await askHandbook();
    const server = await serve();
    const second = await run(['serve']);
    const asked = await run(['ask', '--docs', HANDBOOK, '--json', 'How many days of annual leave are there?']);

    expect(second.code).toBe(1);
    expect(second.stderr.trim().split('\n')).toHaveLength(1);
    expect(second.stderr).toContain('in use');
    expect(asked.stderr).toContain('3 unchanged');
    expect(JSON.parse(asked.stdout)).toMatchObject({ agent_stop_reason: 'sufficient', state: 'done' });
    expect(await end(server.child, 'SIGTERM')).toBe(0);
  });

  it('R44 goes on with a named conversation, by itself and through a server', async () => {
    await askHandbook();
    const chat = ['--docs', HANDBOOK, '--chat', 'devices'];
    const first = await run(['ask', ...chat, 'How soon must a stolen device be reported?']);
    const server = await serve();
    const second = await run(['ask', ...chat, 'And what does a lost badge cost?']);
    const third = await run(['ask', ...chat, '--json', 'How many days of annual leave are there?']);

    expect(first.stdout).toContain('New conversation: devices');
    expect(second.stdout).toContain('Going on with the conversation: devices');
    expect(second.stdout).toContain('recent rounds carried: 1');
    expect(JSON.parse(third.stdout)).toMatchObject({ context_info: { enabled: true, recent_rounds: 2 } });
    expect(await end(server.child, 'SIGTERM')).toBe(0);
  });

  it('starts again at once after it was killed, with everything that was indexed', async () => {
    await askHandbook();
    const server = await serve(['--docs', HANDBOOK]);
    await end(server.child, 'SIGKILL');

    const again = await run(['ask', '--json', 'How soon must a stolen device be reported?']);

    expect(again.code).toBe(0);
    expect(JSON.parse(again.stdout).answer).toContain('within two hours');
  });

  it('indexes what it can of a folder with a bad file, and says which failed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'knowhy-bad-'));
    await writeFile(join(folder, 'good.md'), '# Badge\n\nA lost badge costs 15 euros.\n');
    await writeFile(join(folder, 'bad.pdf'), '%PDF-1.7 nothing more');
    await writeFile(join(folder, 'empty.txt'), '');

    const { code, stdout, stderr } = await run(['ask', '--docs', folder, '--json', 'What does a lost badge cost?']);

    expect(code).toBe(0);
    expect(JSON.parse(stdout).answer).toContain('15 euros');
    expect(stderr).toContain('failed: bad.pdf');
    expect(stderr).toContain('failed: empty.txt');
    await rm(folder, { recursive: true });
  });

  it('says what works', async () => {
    const { code, stdout } = await run(['doctor']);

    expect(code).toBe(0);
    expect(stdout).toContain('pgvector');
    expect(stdout).toContain('offline');
  });

  it('R112 migrates again and again', async () => {
    expect((await run(['migrate'])).stdout).toContain('Nothing to do');
  });
});
