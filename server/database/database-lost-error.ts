/** The database cannot be reached any more, or never could; whatever was asked of it, asking for another thing is no use. */
export class DatabaseLostError extends Error {
  readonly code = 'database_lost';

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'DatabaseLostError';
  }
}
