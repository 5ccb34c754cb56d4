import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { pythonConfig } from '../../testing/python-sandbox.ts';
import { engineCommand, sandboxFolder } from './engine-command.ts';
import { runArguments } from './run-arguments.ts';

const launch = { name: 'knowhy-py-1', owner: 'o', image: 'sha256:1', profileFolder: '/profiles', ahead: false };

function argumentsFor(changes: Parameters<typeof pythonConfig>[0] = {}): string {
  return runArguments({ ...launch, config: pythonConfig(changes) }).join(' ');
}

describe('runArguments', () => {
  it.each([
    ['R90', '--rm'],
    ['R93', '--network none'],
    ['R94', '--read-only'],
    ['R95', '--user 65534:65534'],
    ['R96', '--cap-drop ALL'],
    ['R97', '--security-opt no-new-privileges'],
    ['R97', '--security-opt seccomp=/profiles/seccomp.json'],
    ['R98', '--memory 256m --memory-swap 256m --cpus 1 --pids-limit 64'],
    ['R100', '--tmpfs /tmp:rw,noexec,nosuid,nodev,size=16777216,nr_inodes=4096,mode=1777'],
    ['R110', '--pull=never'],
  ])('%s R117 starts a container with %s', (_requirement, flags) => {
    expect(argumentsFor()).toContain(flags);
  });

  it('R89 R101 R102 mounts nothing, hands on no environment and opens no port', () => {
    const args = runArguments({ ...launch, config: pythonConfig() });

    expect(
      args.filter((arg) => /^(-v|--volume|--mount|-e|--env|--env-file|-p|--publish|--privileged|--device)\b/.test(arg)),
    ).toEqual([]);
  });

  it('R104 takes network and runtime from the configuration alone', () => {
    const args = argumentsFor({ network: 'python-net', runtime: 'runsc' });

    expect(args).toContain('--network python-net');
    expect(args).toContain('--runtime runsc');
    expect(args).toContain('seccomp=/profiles/seccomp-network.json');
    expect(args).not.toContain('--dns');
  });

  it('R108 stays on one line that passes through a command line of Windows', () => {
    const args = runArguments({ ...launch, config: pythonConfig() });

    expect(args.join('')).not.toMatch(/["\n\r%^&|]/);
    expect(args.join(' ').length).toBeLessThan(2000);
  });
});

describe('engineCommand', () => {
  it('R102 hands the CLI an allow-list of the environment and a configuration that does not exist', () => {
    const secrets = {
      PATH: '/bin',
      HOME: '/root',
      KB_CHAT_API_KEY: 'sk',
      DATABASE_URL: 'postgres://',
      HTTPS_PROXY: 'http://u:p@proxy',
    };

    const { environment, prefix } = engineCommand(pythonConfig({ dockerHost: 'unix:///x.sock' }), secrets);

    const nowhere = join(sandboxFolder(), 'no-such-folder');
    expect(environment).toEqual({
      PATH: '/bin',
      DOCKER_HOST: 'unix:///x.sock',
      DOCKER_CONFIG: nowhere,
      HOME: nowhere,
      USERPROFILE: nowhere,
    });
    expect(prefix).toEqual(['--config', nowhere]);
  });

  it('R108 calls Docker in a distribution without a shell', () => {
    const { environment, prefix, profileFolder } = engineCommand(
      pythonConfig({ wslDistribution: 'Ubuntu', dockerHost: null }),
      { PATH: '/bin', KB_CHAT_API_KEY: 'sk' },
    );

    expect(prefix.slice(0, 4)).toEqual(['-d', 'Ubuntu', '--exec', 'docker']);
    expect(environment).toEqual({ PATH: '/bin', WSL_UTF8: '1' });
    expect(profileFolder).toBe('/etc/knowhy');
  });
});

describe('the seccomp profiles', () => {
  const profile = z.object({
    defaultAction: z.string(),
    syscalls: z.array(
      z.object({ names: z.array(z.string()), action: z.string(), args: z.array(z.unknown()).optional() }),
    ),
  });
  const read = (file: string) => profile.parse(JSON.parse(readFileSync(join(sandboxFolder(), file), 'utf8')));
  const isSocket = ({ names }: { names: string[] }) => names.some((name) => name.startsWith('socket'));

  it('differ in the families of sockets alone', () => {
    const [closed, open] = [read('seccomp.json'), read('seccomp-network.json')];

    expect(closed.defaultAction).toBe('SCMP_ACT_ERRNO');
    expect(open.syscalls.filter((rule) => !isSocket(rule))).toEqual(closed.syscalls.filter((rule) => !isSocket(rule)));
    expect(open.syscalls.filter(isSocket).every((rule) => rule.args?.length)).toBe(true);
  });

  it('allow none of the calls that sandboxes were left through', () => {
    const allowed = new Set(
      read('seccomp.json').syscalls.flatMap((rule) =>
        rule.action === 'SCMP_ACT_ALLOW' && !rule.args ? rule.names : [],
      ),
    );

    for (const name of [
      'ptrace',
      'mount',
      'unshare',
      'setns',
      'clone3',
      'bpf',
      'io_uring_setup',
      'keyctl',
      'userfaultfd',
      'memfd_create',
      'process_vm_readv',
      'open_by_handle_at',
      'socket',
      'clone',
    ])
      expect(allowed).not.toContain(name);
  });
});
