import { cpus, loadavg, totalmem } from 'node:os';
import { explain } from '../server/cli/explain.ts';
import { formatTable } from '../server/cli/table.ts';
import { UsageError } from '../server/cli/usage-error.ts';
import { version } from '../server/observability/version.ts';
import { type Bench, type BenchResult, BenchUsageError, type Figure } from './bench.ts';

/** Every bench by name, loaded when it is asked for. */
const BENCHES: Readonly<Record<string, () => Promise<Bench>>> = {
  retrieval: async () => (await import('./retrieval.ts')).retrievalBench,
  loop: async () => (await import('./loop.ts')).loopBench,
  answer: async () => (await import('./answer.ts')).answerBench,
  context: async () => (await import('./context.ts')).contextBench,
  sandbox: async () => (await import('./sandbox.ts')).sandboxBench,
};

const USAGE = `Usage: npm run -s bench -- NAME [--json] [--check] [OPTIONS OF THE BENCH]

  --json    print one JSON object instead of tables
  --check   exit 1 and name each figure that falls short of what the project asks of it
  --help    what a bench measures, and its options

Benches: ${Object.keys(BENCHES).join(', ')}`;

async function main(args: readonly string[]): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined || name === '--help') {
    process.stdout.write(`${USAGE}\n`);
    return name === undefined ? 2 : 0;
  }
  const load = Object.hasOwn(BENCHES, name) ? BENCHES[name] : undefined;
  if (!load) {
    process.stderr.write(`There is no bench ${JSON.stringify(name)}.\n\n${USAGE}\n`);
    return 2;
  }
  const bench = await load();
  if (rest.includes('--help')) {
    process.stdout.write(`${bench.help}\n`);
    return 0;
  }
  return runBench(name, bench, rest);
}

async function runBench(name: string, bench: Bench, args: readonly string[]): Promise<number> {
  const asJson = args.includes('--json');
  const check = args.includes('--check');
  const environment = describeMachine();
  try {
    const result = await bench.run(args.filter((argument) => argument !== '--json' && argument !== '--check'));
    const short = result.figures.filter(fallsShort);
    process.stdout.write(asJson ? asJsonText(name, environment, result) : asText(environment, result));
    for (const figure of check ? short : []) process.stderr.write(`Falls short: ${describeFigure(figure)}\n`);
    return check && short.length > 0 ? 1 : 0;
  } catch (error) {
    process.stderr.write(`bench ${name}: ${explain(error)}\n`);
    return error instanceof BenchUsageError || error instanceof UsageError ? 2 : 1;
  }
}

function describeMachine(): Record<string, string> {
  return {
    machine: `${cpus()[0]?.model.trim() ?? 'unknown'}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB`,
    versions: `knowhy ${version}, Node.js ${process.versions.node}, ${process.platform} ${process.arch}`,
    load: `${loadavg()
      .map((value) => value.toFixed(2))
      .join(' ')} before the run`,
    time: new Date().toISOString(),
  };
}

function fallsShort({ value, wanted }: Figure): boolean {
  if (!wanted) return false;
  return !(value >= (wanted.min ?? -Infinity) && value <= (wanted.max ?? Infinity));
}

function asJsonText(name: string, environment: Record<string, string>, result: BenchResult): string {
  const figures = result.figures.map((figure) => ({ ...figure, falls_short: fallsShort(figure) }));
  return `${JSON.stringify({ bench: name, ...environment, figures, notes: result.notes })}\n`;
}

function asText(environment: Record<string, string>, { figures, tables, notes }: BenchResult): string {
  const rows = figures.map((figure) => [
    figure.name,
    `${format(figure.value)} ${figure.unit}`.trim(),
    wantedText(figure),
    fallsShort(figure) ? 'SHORT' : '',
  ]);
  return [
    ...Object.entries(environment).map(([key, value]) => `${key}: ${value}`),
    '',
    formatTable([['figure', 'value', 'wanted', ''], ...rows], 80),
    ...tables.flatMap((table) => ['', table.title, formatTable(table.rows, 60)]),
    ...(notes.length > 0 ? ['', ...notes] : []),
    '',
  ].join('\n');
}

function describeFigure(figure: Figure): string {
  return `${figure.name} is ${format(figure.value)} ${figure.unit}, wanted ${wantedText(figure)}`;
}

function wantedText({ wanted }: Figure): string {
  if (!wanted) return '';
  const low = wanted.min === undefined ? '' : `≥ ${wanted.min}`;
  return [low, wanted.max === undefined ? '' : `≤ ${wanted.max}`].filter(Boolean).join(' and ');
}

function format(value: number): string {
  if (Number.isNaN(value)) return 'n/a';
  return Number.isInteger(value) ? String(value) : value.toFixed(Math.abs(value) < 10 ? 3 : 1);
}

process.exitCode = await main(process.argv.slice(2));
