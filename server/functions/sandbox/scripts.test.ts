import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { Language, Parser } from 'web-tree-sitter';
import { packageRoot } from '../../observability/package-root.ts';

const folder = join(packageRoot(), 'scripts');
const scripts = readdirSync(folder);
const read = (name: string) => readFileSync(join(folder, name), 'utf8');

/** PowerShell itself can be had neither from npm nor from Debian; its grammar can. */
let parser: Parser;
beforeAll(async () => {
  await Parser.init();
  parser = new Parser();
  const grammar = createRequire(import.meta.url).resolve('tree-sitter-powershell/tree-sitter-powershell.wasm');
  parser.setLanguage(await Language.load(grammar));
});

function hasSyntaxError(source: string): boolean {
  return parser.parse(source)?.rootNode.hasError ?? true;
}

describe('scripts', () => {
  it.each(scripts.filter((name) => name.endsWith('.ps1')))('%s is PowerShell and stops at the first error', (name) => {
    expect(hasSyntaxError(read(name))).toBe(false);
    expect(read(name)).toContain("$ErrorActionPreference = 'Stop'");
  });

  it('recognises PowerShell that is broken', () => {
    expect(hasSyntaxError(`${read('Setup-PythonSandbox.ps1')}\nif ($x { }`)).toBe(true);
  });

  it.each(scripts.filter((name) => name.endsWith('.sh')))('%s is shell', (name) => {
    const shell = /^#!.*\bbash/.test(read(name)) ? 'bash' : 'sh';

    expect(spawnSync(shell, ['-n', join(folder, name)], { encoding: 'utf8' }).stderr).toBe('');
  });

  it('R106 installs Docker from its official repository in a WSL distribution, and writes the profiles there', () => {
    const [windows, linux] = [read('Setup-PythonSandbox.ps1'), read('setup-python-sandbox.sh')];

    expect(windows).toMatch(/\[string\]\$Distribution/);
    expect(windows).toContain("'-u', 'root', '--exec', 'bash'");
    expect(linux).toContain('https://download.docker.com');
    expect(linux).toContain('docker-ce docker-ce-cli containerd.io');
    expect(linux).toContain('/etc/knowhy');
  });

  it('R107 hands the failure of a check on', () => {
    const windows = read('Test-PythonSandbox.ps1');

    expect(windows).toContain('$env:KB_PYTHON_WSL_DISTRIBUTION = $Distribution');
    expect(windows).toMatch(/run\.mjs test-sandbox\s+\$code = \$LASTEXITCODE[\s\S]*\nexit \$code\s*$/);
    expect(read('test-python-sandbox.sh')).toContain('exec node tools/run.mjs test-sandbox');
  });
});
