import type {
  PythonRun,
  PythonSandbox,
  RunFailure,
  RunOutcome,
  SandboxState,
  SyntaxOutcome,
} from '../functions/python-sandbox.ts';

type Outcome = { kind: 'value'; value: Extract<RunOutcome, { kind: 'value' }>['value'] } | RunFailure;

/** What a fake run leaves behind where a test does not care. */
const OUTPUT = { stdout: '', stderr: '', outputTruncated: false, durationMs: 1 };

/** A sandbox without Python: it answers what a test says and remembers what it was asked. What nobody set throws. */
export class FakePythonSandbox implements PythonSandbox {
  readonly runs: PythonRun[] = [];
  readonly checked: string[] = [];
  /** Answers every run. */
  onRun: (run: PythonRun) => (Outcome & Partial<typeof OUTPUT>) | Promise<Outcome & Partial<typeof OUTPUT>> = () => {
    throw new Error('Nobody said what a run answers.');
  };
  onCheck: (code: string) => SyntaxOutcome = () => {
    throw new Error('Nobody said what a syntax check answers.');
  };

  start(): void {
    throw new Error('Nobody expected a start.');
  }

  async run(request: PythonRun): Promise<RunOutcome> {
    this.runs.push(request);
    return { ...OUTPUT, ...(await this.onRun(request)) };
  }

  async checkSyntax(code: string): Promise<SyntaxOutcome> {
    this.checked.push(code);
    return this.onCheck(code);
  }

  async describe(): Promise<SandboxState> {
    throw new Error('Nobody said what the sandbox is.');
  }

  async close(): Promise<void> {}
}
