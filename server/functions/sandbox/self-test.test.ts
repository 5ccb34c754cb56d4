import { describe, expect, it } from 'vitest';
import { judgeReading, type ProbeReading } from './self-test.ts';

const config = { network: 'none', runtime: null, memoryMiB: 256, pids: 64, cpus: 1 };

/** What a sound container on cgroup v2 shows. */
const sound: ProbeReading = {
  python: '3.13.1',
  ids: Array(6).fill(65_534),
  groups: [],
  capabilities: Array(5).fill('0000000000000000'),
  no_new_privileges: '1',
  seccomp: '2',
  root_mode: 'ro',
  writable: [['/tmp', ['nodev', 'noexec', 'nosuid', 'relatime', 'rw']]],
  tmp_bytes: 16_777_216,
  tmp_files: 4096,
  interfaces: ['lo'],
  vsock: 'EPERM',
  inet: 'EPERM',
  supervisor: 'EACCES',
  memory: '268435456',
  swap: '0',
  memory_and_swap: null,
  pids: '64',
  cpu: '100000 100000',
  cpu_quota: null,
  cpu_period: null,
  open_files: 256,
  core: 0,
  environment: ['PATH'],
  sockets: [],
};
const cgroup1 = { memory_and_swap: '268435456', swap: null, cpu: null, cpu_quota: '100000', cpu_period: '100000' };

describe('judgeReading', () => {
  it('R98 passes limits of cgroup v2 and v1', () => {
    expect(judgeReading(sound, config)).toEqual({ problems: [], notes: [] });
    expect(judgeReading({ ...sound, ...cgroup1 }, config)).toEqual({ problems: [], notes: [] });
  });

  it.each<[string, Partial<ProbeReading>]>([
    ['functions run as', { ids: [0, 0, 0, 0, 0, 0] }],
    ['in the groups 27', { groups: [27] }],
    ['capabilities are left', { capabilities: ['00000000a80425fb'] }],
    ['no-new-privileges', { no_new_privileges: '0' }],
    ['no seccomp filter', { seccomp: '0' }],
    ['root file system is writable', { root_mode: 'rw' }],
    ['root file system is writable', { root_mode: null }],
    ['more than /tmp is writable (/data)', { writable: [...sound.writable, ['/data', ['rw']]] }],
    ['/tmp lacks noexec', { writable: [['/tmp', ['nodev', 'nosuid', 'rw']]] }],
    ['there is a network (eth0)', { interfaces: ['eth0', 'lo'] }],
    ['AF_VSOCK', { vsock: 'allowed' }],
    ['internet sockets are open', { inet: 'allowed' }],
    ["the runner's memory is open", { supervisor: 'allowed' }],
    ['the memory limit is max', { memory: 'max' }],
    ['the memory limit cannot be read back', { memory: null }],
    ['the swap limit is max', { swap: 'max' }],
    ['the limit of memory with swap', { memory_and_swap: '9223372036854771712' }],
    ['the limit of processes is max', { pids: 'max' }],
    ['the limit of processors', { cpu: 'max 100000' }],
    ['the size of /tmp', { tmp_bytes: 1 << 30 }],
    ['core dumps', { core: -1 }],
    ["the engine's socket", { sockets: ['/run/docker.sock'] }],
  ])('fails closed: %s', (words, change) => {
    const { problems } = judgeReading({ ...sound, ...change }, config);

    expect(problems.join('; ')).toContain(words);
  });

  it('R104 takes a network for intended where one is configured', () => {
    const reading = { ...sound, interfaces: ['eth0', 'lo'], inet: 'allowed' };

    expect(judgeReading(reading, { ...config, network: 'python-net' }).problems).toEqual([]);
  });

  it('notes what another runtime does not show inside, and refuses what it shows to be wrong', () => {
    const gvisor = { ...sound, seccomp: '0', memory: null, swap: null, pids: null, cpu: null };

    expect(judgeReading(gvisor, { ...config, runtime: 'runsc' })).toEqual({
      problems: [],
      notes: expect.arrayContaining(['runtime runsc: the memory limit cannot be read back']),
    });
    expect(judgeReading({ ...gvisor, root_mode: 'rw' }, { ...config, runtime: 'runsc' }).problems).toHaveLength(1);
  });
});
