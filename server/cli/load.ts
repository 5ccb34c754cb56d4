import { isAbsolute, resolve } from 'node:path';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import type { Logger } from 'pino';
import { type Config, loadConfig } from '../config.ts';
import { createLog } from '../observability/log.ts';
import { UsageError } from './usage-error.ts';

/** Reads options; unknown ones are a UsageError. */
export function readArguments<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** A path as the user meant it: npm runs scripts in the package, but says where it was called. */
export function userPath(path: string): string {
  return isAbsolute(path) ? path : resolve(process.env['INIT_CWD'] ?? process.cwd(), path);
}

/** The configuration of the working directory (R34), with its notices said on standard error. Throws ConfigError. */
export function loadSettings(): Config {
  const { config, notices } = loadConfig(process.cwd(), process.env);
  for (const notice of notices) process.stderr.write(`Note: ${notice}\n`);
  return config;
}

/** The log of a command; `KNOWHY_LOG` sets its level. */
export function commandLog(fallback: string): Logger {
  return createLog(process.env['KNOWHY_LOG'] ?? fallback);
}
