import { SandboxError, type SandboxErrorCode } from '../sandbox-error.ts';

/** What a call of the CLI left behind when it failed. */
export interface FailedCall {
  /** The engine's name, for the message. */
  engine: string;
  /** Its words, as they came. */
  text: string;
  /** Why the program could not even be started. */
  startError?: NodeJS.ErrnoException;
}

interface Pattern {
  /** A sample of the engine's words stands beside each in engine-failure.test.ts. */
  words: RegExp;
  code: SandboxErrorCode;
  advice: string;
}

const PATTERNS: readonly Pattern[] = [
  {
    words: /no space left on device|disk quota exceeded/i,
    code: 'sandbox_full',
    advice: 'The disk of the container engine is full: free space there (docker system df shows what takes it).',
  },
  {
    words: /cannot allocate memory|not enough memory/i,
    code: 'sandbox_full',
    advice: 'The host of the container engine has no memory left: lower kb.python.prewarm or kb.python.concurrency.',
  },
  {
    words: /permission denied while trying to connect|dial unix .*permission denied/i,
    code: 'sandbox_unavailable',
    advice: 'This user may not use the container engine: add the user of the server to the group docker.',
  },
  {
    words: /no such image|unable to find image|pull access denied|manifest unknown/i,
    code: 'sandbox_image_missing',
    advice:
      'The image of kb.python.image is not on the engine, and nothing is pulled by itself: run scripts/setup-python-sandbox.sh ' +
      '(Windows: Setup-PythonSandbox.ps1), or pull an image with python3 and name it in kb.python.image.',
  },
  {
    words: /opening seccomp profile|decoding seccomp profile|seccomp.*no such file/i,
    code: 'sandbox_unsafe',
    advice: 'The seccomp profile cannot be read: run the set-up script again.',
  },
  {
    words: /WSL_E_DISTRO_NOT_FOUND|no distribution with the supplied name/i,
    code: 'sandbox_unavailable',
    advice: 'There is no such WSL distribution: wsl --list shows their names; correct kb.python.wsl.distribution.',
  },
  {
    words: /unknown or invalid runtime|unknown runtime|invalid runtime name/i,
    code: 'sandbox_unavailable',
    advice: 'The engine does not know the runtime of kb.python.runtime: add it to the engine, or take the setting out.',
  },
  {
    words: /network \S+ not found/i,
    code: 'sandbox_unavailable',
    advice: 'The engine has no network of the name in kb.python.network: create it, or set it to none.',
  },
  {
    words: /"?python3"?: executable file not found|exec: "?python3/i,
    code: 'sandbox_unsafe',
    advice: 'The image of kb.python.image has no python3 on its PATH: name another image.',
  },
  {
    words: /cannot connect to the docker daemon|error during connect|connection refused|no such host|dial (unix|tcp)/i,
    code: 'sandbox_unavailable',
    advice:
      'The container engine does not answer: start it (systemctl start docker), or correct kb.python.docker_host.',
  },
  {
    words: /execvpe? docker failed|docker: (command )?not found|: docker: not found/i,
    code: 'sandbox_unavailable',
    advice: 'The WSL distribution has no Docker CLI: run scripts/Setup-PythonSandbox.ps1.',
  },
];

/** Turns what an engine said into the one error of the sandbox, with what to do about it. */
export function engineFailure(call: FailedCall): SandboxError {
  if (call.startError) return startFailure(call.engine, call.startError);
  const text = call.text.trim();
  const pattern = PATTERNS.find(({ words }) => words.test(text));
  const said = clip(text) || 'nothing';
  if (pattern) return new SandboxError(pattern.code, `${pattern.advice} ${call.engine} said: ${said}`);
  return new SandboxError('sandbox_unavailable', `The container engine refused to work. ${call.engine} said: ${said}`);
}

/** True where the words are an engine's own, not those of a process inside a container. */
export function isEngineFailure(text: string): boolean {
  return PATTERNS.some(({ words }) => words.test(text)) || /^(docker: )?error/im.test(text);
}

/** Text of a program's output: wsl.exe speaks UTF-16LE where WSL_UTF8 is not known yet. */
export function outputText(bytes: Buffer): string {
  return bytes.includes(0) ? bytes.toString('utf16le') : bytes.toString('utf8');
}

function startFailure(engine: string, error: NodeJS.ErrnoException): SandboxError {
  const advice = engine.startsWith('wsl')
    ? 'wsl was not found: enable WSL, or unset kb.python.wsl.distribution.'
    : 'The Docker CLI was not found: install Docker Engine (scripts/setup-python-sandbox.sh), or set kb.python.docker to its path.';
  const message =
    error.code === 'ENOENT' ? advice : `The container engine's CLI cannot be started (${error.code ?? error.message}).`;
  return new SandboxError('sandbox_unavailable', `${message} Functions never run without a sandbox.`, error);
}

function clip(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length <= 400 ? line : `${line.slice(0, 400)} …`;
}
