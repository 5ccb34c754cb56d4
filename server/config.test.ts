import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Config, ConfigError, loadConfig } from './config.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'knowhy-config-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(text: string): void {
  writeFileSync(join(folder, 'my.txt'), text);
}

function problemsOf(environment: NodeJS.ProcessEnv = {}): readonly string[] {
  try {
    loadConfig(folder, environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

describe('loadConfig', () => {
  it('works with nothing configured', () => {
    const { config, notices } = loadConfig(folder, {});

    expect(config.http).toEqual({ host: '127.0.0.1', port: 8080 });
    expect(config.dataDir).toBe(join(folder, 'data'));
    expect(config.agent).toEqual({ maxRounds: 3, evidenceTokens: 16_000 });
    expect(notices).toEqual([]);
  });

  it('R34 lets the environment override my.txt', () => {
    write('kb.agent.max_rounds=2\nkb.http.port=9000\n');

    const { config } = loadConfig(folder, { KB_AGENT_MAX_ROUNDS: '5' });

    expect(config.agent.maxRounds).toBe(5);
    expect(config.http.port).toBe(9000);
  });

  it('R34 lists every problem at once', () => {
    write('kb.http.port=eighty\nkb.chat.base_url=ftp://x\nkb.chat.agent_status=maybe\nkb.embedding.dimensions=5000\n');

    const problems = problemsOf();

    expect(problems).toHaveLength(4);
    expect(problems[0]).toContain('my.txt line 1');
  });

  it('R34 lists lines that are no setting with everything else', () => {
    write('just words\nkb.http.port=eighty\nkb.http.host=0.0.0.0\nkb.http.host=::\n');

    expect(problemsOf({ KB_CHAT_MODEL: 'm' })).toEqual([
      'my.txt line 1: expected key=value.',
      'my.txt line 4: kb.http.host is set twice.',
      expect.stringContaining('my.txt line 2: kb.http.port'),
      expect.stringContaining('loopback only'),
      expect.stringContaining('kb.chat.base_url'),
    ]);
  });

  it('R34 lists a my.txt that cannot be read with everything else', () => {
    mkdirSync(join(folder, 'my.txt'));

    expect(problemsOf({ KB_HTTP_PORT: 'x' })).toEqual([
      expect.stringContaining('my.txt cannot be read'),
      expect.stringContaining('kb.http.port'),
    ]);
  });

  it.each([
    ['127.0.0.1', 0],
    ['localhost', 0],
    ['::1', 0],
    ['0.0.0.0', 1],
    ['192.168.1.2', 1],
  ])('takes the host %s with %i problems: loopback only', (host, problems) => {
    expect(problemsOf({ KB_HTTP_HOST: host })).toHaveLength(problems);
  });

  it.each([
    ['R35', 'KB_AGENT_MAX_ROUNDS', (config: Config) => config.agent.maxRounds, { '0': 1, '99': 6 }],
    [
      'R36',
      'KB_AGENT_EVIDENCE_TOKENS',
      (config: Config) => config.agent.evidenceTokens,
      { '999': 1000, '24001': 24_000 },
    ],
    ['R37', 'KB_CONTEXT_RECENT_TOKENS', (config: Config) => config.context.recentTokens, { '1': 512, '16001': 16_000 }],
  ] as const)('%s clamps %s and says so', (_requirement, name, pick, cases) => {
    for (const [value, clamped] of Object.entries(cases)) {
      const { config, notices } = loadConfig(folder, { [name]: value });

      expect(pick(config)).toBe(clamped);
      expect(notices).toHaveLength(1);
    }
  });

  it('reads a byte order mark, comments, Windows line ends and values with an equals sign', () => {
    write('\uFEFF# comment\r\nkb.chat.base_url = https://model.test/v1?a=b \r\nkb.chat.model=m\r\n');

    expect(loadConfig(folder, {}).config.chat.baseUrl).toBe('https://model.test/v1?a=b');
  });

  it('never repeats a URL with a password', () => {
    write('kb.database.url=mysql://root:secret@host/db\n');

    expect(problemsOf().join()).not.toContain('secret');
  });

  it('notices a key nobody reads and refuses a line that is no setting', () => {
    write('kb.http.prot=1\n');
    expect(loadConfig(folder, {}).notices[0]).toContain('kb.http.prot');

    write('just words\n');
    expect(problemsOf()).toEqual(['my.txt line 1: expected key=value.']);
  });

  it('R98 R99 R109 gives Python functions their documented limits', () => {
    expect(loadConfig(folder, {}).config.python).toEqual({
      docker: 'docker',
      dockerHost: null,
      wslDistribution: null,
      image: 'knowhy-python:local',
      network: 'none',
      runtime: null,
      timeoutMs: 15_000,
      memoryMiB: 256,
      cpus: 1,
      pids: 64,
      concurrency: 2,
      prewarm: 2,
    });
  });

  it('R99 R108 reads the settings of Python functions and brings the time into 1–60 s', () => {
    write('kb.python.wsl.distribution=Ubuntu-24.04\nkb.python.timeout_seconds=90\nkb.python.network=python-net\n');

    const { config, notices } = loadConfig(folder, {});

    expect(config.python).toMatchObject({ wslDistribution: 'Ubuntu-24.04', timeoutMs: 60_000, network: 'python-net' });
    expect(notices).toEqual(['kb.python.timeout_seconds=90 is outside 1–60; 60 is used.']);
  });

  it('R104 refuses names that a command line could take for something else', () => {
    write(
      'kb.python.wsl.distribution=-x\nkb.python.image=--privileged\nkb.python.network=a b\nkb.python.runtime=$(id)\n',
    );

    expect(problemsOf()).toHaveLength(4);
  });

  it('R108 refuses a WSL distribution together with an address of an engine', () => {
    write('kb.python.wsl.distribution=Ubuntu\nkb.python.docker_host=unix:///run/docker.sock\n');

    expect(problemsOf()[0]).toContain('exclude each other');
  });

  it('takes DOCKER_HOST only where nothing else names an engine, in any form that the CLI reads', () => {
    const found = (environment: NodeJS.ProcessEnv) => loadConfig(folder, environment).config.python;
    expect(found({ DOCKER_HOST: 'localhost:2375' }).dockerHost).toBe('localhost:2375');

    write('kb.python.docker_host=unix:///run/own.sock\n');
    expect(found({ DOCKER_HOST: 'unix:///run/docker.sock' }).dockerHost).toBe('unix:///run/own.sock');

    write('kb.python.wsl.distribution=Ubuntu\n');
    expect(found({ DOCKER_HOST: 'unix:///run/docker.sock' })).toMatchObject({
      dockerHost: null,
      wslDistribution: 'Ubuntu',
    });
  });

  it.each(['host', 'bridge', 'default'])('R104 refuses the network %s, which nobody made for functions', (name) => {
    write(`kb.python.network=${name}\n`);

    expect(problemsOf()[0]).toContain('functions would reach this machine');
  });

  it('wants a model with its address', () => {
    write('kb.chat.base_url=http://127.0.0.1:11434/v1\n');

    expect(problemsOf()[0]).toContain('kb.chat.model');
  });
});
