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
const startsEngine = environment.KNOWHY_TEST_DOCKER_HOST === undefined;
environment.KNOWHY_TEST_DOCKER_HOST ??= containerEngine() ?? '';
for (const [name, value] of [
  ['PostgreSQL with pgvector', environment.KNOWHY_TEST_DATABASE_URL],
  ['Chromium', environment.KNOWHY_TEST_CHROMIUM],
  ['a container engine', environment.KNOWHY_TEST_DOCKER_HOST],
]) {
  if (value) continue;
  if (process.env.CI === 'true') fail(`${name} is missing, and with CI=true no suite may be skipped.`);
  say(`\n*** SKIPPED: the suites that need ${name}; see "Tests" in README.md. ***\n`);
}

// Interrupted, this process still has an engine to stop; the tests get the signal as well.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {});
const [command, ...before] = engineUser();
const result = spawnSync(command, [...before, 'run', ...arguments_], { cwd: root, stdio: 'inherit', env: environment });
if (startsEngine && environment.KNOWHY_TEST_DOCKER_HOST) testSandbox('stop');
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

function containerEngine() {
  if (!isDebianRoot()) return null;
  say('Container engine with a Python image …');
  const started = testSandbox('start');
  return started.status === 0 ? started.stdout.trim().split('\n').at(-1) : null;
}

function testSandbox(action) {
  return spawnSync('bash', [join(root, 'tools', 'test-sandbox.sh'), action], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/** Runs the tests under a shared lock on the engine, so that another run that ends first does not stop it. */
function engineUser() {
  if (!startsEngine || !environment.KNOWHY_TEST_DOCKER_HOST) return [bin('vitest')];
  return ['flock', '--shared', join(sandboxHome(), 'users'), bin('vitest')];
}

function sandboxHome() {
  return process.env.KNOWHY_TEST_SANDBOX_HOME ?? '/opt/knowhy-sandbox';
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
