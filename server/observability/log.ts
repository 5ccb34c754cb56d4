import { type Logger, pino } from 'pino';

/** Fields that never reach the log, wherever they appear one or two levels deep. */
const SECRETS = ['apiKey', 'api_key', 'token', 'password', 'authorization', 'AUTHORIZATION'];

/** A log of JSON lines on standard error; `level` as pino knows it (`silent` for none). */
export function createLog(level: string): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: SECRETS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '***' },
    },
    pino.destination({ dest: 2, sync: true }),
  );
}
