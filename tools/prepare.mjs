// Makes a fresh clone ready: installs what package-lock.json names and builds, each only when something
// changed. Plain JavaScript without dependencies, since nothing is installed when it runs first.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const installStamp = join(root, 'node_modules', '.knowhy-installed');
const buildStamp = join(root, 'dist', '.knowhy-built');
const lockFolder = join(root, '.knowhy-preparing');

/** Installs and, with `build`, compiles. Ends the process with one clear line when that fails. */
export function prepare({ build }) {
  requireNode();
  if (isReady(build)) return;
  const unlock = lock();
  try {
    if (!isInstalled()) install();
    if (build && !isBuilt()) compile();
  } finally {
    unlock();
  }
}

function isReady(build) {
  return isInstalled() && (!build || isBuilt());
}

function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  fail(`Knowhy needs Node.js 20.19 or newer; this is ${process.versions.node}.`);
}

function install() {
  say('Installing dependencies (once) …');
  run(process.platform === 'win32' ? 'npm.cmd' : 'npm', ['ci', '--no-fund', '--no-audit', '--loglevel=error']);
  writeFileSync(installStamp, lockHash());
}

function compile() {
  say('Building (after a change) …');
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', 'tsconfig.build.json']);
  writeFileSync(buildStamp, sourcesHash());
}

function isInstalled() {
  return readIfThere(installStamp) === lockHash();
}

function isBuilt() {
  return readIfThere(buildStamp) === sourcesHash();
}

function lockHash() {
  return hash([process.versions.modules, readFileSync(join(root, 'package-lock.json'), 'utf8')]);
}

function sourcesHash() {
  const parts = [lockHash()];
  for (const folder of ['contract', 'server', 'bench']) collect(join(root, folder), parts);
  for (const name of ['tsconfig.json', 'tsconfig.build.json']) parts.push(readFileSync(join(root, name), 'utf8'));
  return hash(parts);
}

function collect(folder, parts) {
  if (!existsSync(folder)) return;
  const entries = readdirSync(folder, { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) collect(path, parts);
    else if (path.endsWith('.ts') && !path.endsWith('.test.ts')) {
      const { mtimeMs, size } = statSync(path);
      parts.push(`${path} ${mtimeMs} ${size}`);
    }
  }
}

function hash(parts) {
  return createHash('sha256').update(parts.join('\n')).digest('hex');
}

function readIfThere(path) {
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
}

/** Two commands started at once in a fresh clone: the second waits for the first. */
function lock() {
  for (;;) {
    try {
      mkdirSync(lockFolder);
      writeFileSync(join(lockFolder, 'pid'), String(process.pid));
      return () => rmSync(lockFolder, { recursive: true, force: true });
    } catch (error) {
      if (error.code !== 'EEXIST') fail(`Cannot write to ${root}: ${error.message}`);
    }
    if (holderIsGone()) rmSync(lockFolder, { recursive: true, force: true });
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
  }
}

function holderIsGone() {
  const pid = Number(readIfThere(join(lockFolder, 'pid')));
  if (!pid) return existsSync(lockFolder) && Date.now() - statSync(lockFolder).mtimeMs > 5000;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}

export function run(command, args, options = {}) {
  const result = spawnSync(command, args, {
    cwd: root,
    // What set-up prints must not mix with what a command prints.
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32' && command.endsWith('.cmd'),
    ...options,
  });
  if (result.status === 0) return;
  rmSync(lockFolder, { recursive: true, force: true });
  fail(`${command} ${args.join(' ')} failed${result.error ? `: ${result.error.message}` : ''}.`);
}

export function say(message) {
  process.stderr.write(`${message}\n`);
}

export function fail(message) {
  say(message);
  process.exit(1);
}
