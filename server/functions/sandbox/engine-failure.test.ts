import { describe, expect, it } from 'vitest';
import { engineFailure, isEngineFailure, outputText } from './engine-failure.ts';

/** What engines say, as seen; `advice` is what a person reads first. */
const SAMPLES: readonly [code: string, advice: RegExp, text: string][] = [
  [
    'sandbox_unavailable',
    /does not answer: start it/,
    'Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?',
  ],
  [
    'sandbox_unavailable',
    /does not answer/,
    'error during connect: this error may indicate that the docker daemon is not running: Get "http://%2F%2F.%2Fpipe%2Fdocker_engine/v1.24/info": open //./pipe/docker_engine: The system cannot find the file specified.',
  ],
  [
    'sandbox_unavailable',
    /group docker/,
    'Got permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock: dial unix /var/run/docker.sock: connect: permission denied',
  ],
  ['sandbox_image_missing', /nothing is pulled/, 'Error: No such image: knowhy-python:local'],
  [
    'sandbox_image_missing',
    /nothing is pulled/,
    "docker: Error response from daemon: No such image: sha256:00.\nSee 'docker run --help'.",
  ],
  [
    'sandbox_full',
    /disk .* is full/,
    'docker: Error response from daemon: mkdir /var/lib/docker/overlay2/x-init: no space left on device.',
  ],
  [
    'sandbox_full',
    /no memory left/,
    'docker: Error response from daemon: failed to create shim task: fork/exec /usr/bin/runc: cannot allocate memory: unknown.',
  ],
  [
    'sandbox_unsafe',
    /seccomp profile cannot be read/,
    'docker: opening seccomp profile (/etc/knowhy/seccomp.json) failed: open /etc/knowhy/seccomp.json: no such file or directory.',
  ],
  [
    'sandbox_unavailable',
    /kb\.python\.runtime/,
    'docker: Error response from daemon: Unknown runtime specified runsc.',
  ],
  ['sandbox_unavailable', /kb\.python\.network/, 'docker: Error response from daemon: network python-net not found.'],
  [
    'sandbox_unsafe',
    /no python3/,
    'docker: Error response from daemon: OCI runtime create failed: container_linux.go:380: starting container process caused: exec: "python3": executable file not found in $PATH: unknown.',
  ],
  [
    'sandbox_unavailable',
    /no such WSL distribution/,
    'There is no distribution with the supplied name.\r\nError code: Wsl/Service/WSL_E_DISTRO_NOT_FOUND',
  ],
  ['sandbox_unavailable', /no Docker CLI/, '<3>WSL (9) ERROR: CreateProcessCommon:559: execvpe docker failed 2'],
  ['sandbox_unavailable', /refused to work/, 'docker: Error response from daemon: something new.'],
];

describe('engineFailure', () => {
  it.each(SAMPLES)('R103 says what to do: %s %s', (code, advice, text) => {
    const error = engineFailure({ engine: 'docker', text });

    expect(error).toMatchObject({ code, message: expect.stringMatching(advice) });
    expect(error.message).toContain(text.split('\n')[0]?.trim().slice(0, 100));
    expect(isEngineFailure(text)).toBe(true);
  });

  it('takes the words of a container for no failure of the engine', () => {
    expect(isEngineFailure('Traceback (most recent call last):\n  File "<runner>", line 1\nMemoryError')).toBe(false);
  });

  it('reads the UTF-16 of wsl.exe', () => {
    expect(outputText(Buffer.from('WSL_E_DISTRO_NOT_FOUND', 'utf16le'))).toBe('WSL_E_DISTRO_NOT_FOUND');
  });
});
