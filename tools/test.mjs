// `npm test`: makes the clone ready, starts the services that the suites need where this machine can
// have them, then checks types, lint and arrows and runs every test. With CI=true nothing may be skipped.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fail, prepare, root, run, say } from './prepare.mjs';

prepare({ build: true });
const bin = (name) => join(root, 'node_modules', '.bin', name);
const arguments_ = process.argv.slice(2);
const whole = arguments_.length === 0;

if (whole) {
  say('Types …');
  run(bin('tsc'), ['--noEmit']);
  say('Lint and format …');
  run(bin('biome'), ['check', '--error-on-warnings', '.']);
}

const environment = { ...process.env };
environment.KNOWHY_TEST_DATABASE_URL ??= postgresUrl() ?? '';
environment.KNOWHY_TEST_CHROMIUM ??= chromiumPath() ?? '';
for (const [name, value] of [
  ['PostgreSQL with pgvector', environment.KNOWHY_TEST_DATABASE_URL],
  ['Chromium', environment.KNOWHY_TEST_CHROMIUM],
]) {
  if (value) continue;
  if (process.env.CI === 'true') fail(`${name} is missing, and with CI=true no suite may be skipped.`);
  say(`\n*** SKIPPED: the suites that need ${name}; see "Tests" in README.md. ***\n`);
}

const result = spawnSync(bin('vitest'), ['run', ...arguments_], { cwd: root, stdio: 'inherit', env: environment });
process.exit(result.status ?? 1);

function isDebianRoot() {
  return process.platform === 'linux' && existsSync('/etc/debian_version') && process.getuid?.() === 0;
}

function postgresUrl() {
  if (!isDebianRoot()) return null;
  say('PostgreSQL 17 with pgvector …');
  const started = spawnSync('bash', [join(root, 'tools', 'test-postgres.sh'), 'start'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return started.status === 0 ? started.stdout.trim().split('\n').at(-1) : null;
}

function chromiumPath() {
  const path = '/usr/bin/chromium';
  if (!existsSync(path) && isDebianRoot()) {
    say('Chromium …');
    const quiet = {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    };
    spawnSync('apt-get', ['-qq', 'update'], quiet);
    spawnSync('apt-get', ['-qq', '-y', '--no-install-recommends', 'install', 'chromium', 'fonts-noto-cjk'], quiet);
  }
  return existsSync(path) ? path : null;
}
