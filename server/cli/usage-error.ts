/** The command line itself is wrong: exit code 2. */
export class UsageError extends Error {
  readonly code = 'bad_usage';

  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}
