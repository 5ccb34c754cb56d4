import { join } from 'node:path';
import type { PythonConfig } from '../../config.ts';
import { packageRoot } from '../../observability/package-root.ts';

/** How the Docker CLI is called: what comes before its own arguments, and all of the environment it sees. */
export interface EngineCommand {
  /** For messages: `docker`, or `wsl NAME`. */
  name: string;
  file: string;
  prefix: readonly string[];
  environment: Readonly<Record<string, string>>;
  /** The folder of the seccomp profiles, where this CLI can read it. */
  profileFolder: string;
}

/** Where the set-up script writes the profiles in a WSL distribution. */
export const WSL_PROFILE_FOLDER = '/etc/knowhy';

/** The folder of this module's files that are no TypeScript, the same from sources and from the build. */
export function sandboxFolder(): string {
  return join(packageRoot(), 'server', 'functions', 'sandbox');
}

/**
 * The command for the configured engine. Its environment is an allow-list (R102): a CLI hands on what it finds
 * (`proxies` of its configuration go into every container), so its configuration and its home are a folder that does
 * not exist. `--exec` hands arguments on as they are; behind `--` WSL would send them through a shell.
 */
export function engineCommand(config: PythonConfig, environment: NodeJS.ProcessEnv): EngineCommand {
  if (config.wslDistribution !== null) {
    return {
      name: `wsl ${config.wslDistribution}`,
      file: process.platform === 'win32' ? 'wsl.exe' : 'wsl',
      prefix: ['-d', config.wslDistribution, '--exec', 'docker', '--config', '/nonexistent'],
      environment: { ...systemVariables(environment), WSL_UTF8: '1' },
      profileFolder: WSL_PROFILE_FOLDER,
    };
  }
  const nowhere = join(sandboxFolder(), 'no-such-folder');
  return {
    name: 'docker',
    file: config.docker,
    prefix: ['--config', nowhere],
    environment: {
      ...systemVariables(environment),
      ...(config.dockerHost === null ? {} : remoteVariables(config.dockerHost, environment)),
      DOCKER_CONFIG: nowhere,
      HOME: nowhere,
      USERPROFILE: nowhere,
    },
    profileFolder: sandboxFolder(),
  };
}

/** An engine on another machine is reached with the operator's certificates or keys. */
function remoteVariables(dockerHost: string, environment: NodeJS.ProcessEnv): Record<string, string> {
  const isLocal = /^(?:unix|npipe):/.test(dockerHost);
  const forTcp = ['DOCKER_TLS_VERIFY', 'DOCKER_CERT_PATH'];
  const names = isLocal ? [] : dockerHost.startsWith('ssh:') ? ['SSH_AUTH_SOCK'] : forTcp;
  return { ...picked(names, environment), DOCKER_HOST: dockerHost };
}

/** What finding and starting a program takes; Windows needs its own folders for sockets and pipes. */
function systemVariables(environment: NodeJS.ProcessEnv): Record<string, string> {
  const names = process.platform === 'win32' ? ['PATH', 'PATHEXT', 'SystemRoot', 'SystemDrive', 'windir'] : ['PATH'];
  return picked(names, environment);
}

function picked(names: readonly string[], environment: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])));
}
