/** One measured value. `wanted`: what the project asks of it; `--check` fails where it falls short. */
export interface Figure {
  name: string;
  value: number;
  /** As it stands behind the value: ms, s, MB, %; empty for shares and counts. */
  unit: string;
  wanted?: { min?: number; max?: number };
}

/** What a bench found. `tables`: for reading, with a heading row each. */
export interface BenchResult {
  figures: Figure[];
  tables: { title: string; rows: string[][] }[];
  notes: string[];
}

export interface Bench {
  help: string;
  /** Throws BenchUsageError for wrong arguments. */
  run(args: string[]): Promise<BenchResult>;
}

/** The command line is wrong: exit code 2. */
export class BenchUsageError extends Error {
  readonly code = 'bad_usage';

  constructor(message: string) {
    super(message);
    this.name = 'BenchUsageError';
  }
}

/** Says what is being done, on standard error, so that `--json` stays one object. */
export function progress(message: string): void {
  process.stderr.write(`${message}\n`);
}

/** The value below which `share` (0–1) of the values lie; NaN of none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** The arithmetic mean; NaN of none. */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
