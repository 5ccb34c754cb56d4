import type { Logger } from 'pino';
import type { PythonConfig } from '../../config.ts';
import type { PythonSandbox } from '../python-sandbox.ts';
import { CliEngine } from './cli-engine.ts';
import { ContainerSandbox } from './container-sandbox.ts';
import { engineCommand } from './engine-command.ts';

/** The sandbox of a configuration. Nothing is started before `start`, `run` or `describe`. */
export function createPythonSandbox(config: PythonConfig, { log }: { log: Logger }): PythonSandbox {
  const command = engineCommand(config, process.env);
  return new ContainerSandbox({ engine: new CliEngine(command, config), config, log });
}
