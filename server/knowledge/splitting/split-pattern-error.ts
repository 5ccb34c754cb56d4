/** A split pattern typed by a user that is not a valid regular expression or takes too long on the given text. */
export class SplitPatternError extends Error {
  readonly code: 'invalid_pattern' | 'slow_pattern';
  readonly pattern: string;

  constructor(code: 'invalid_pattern' | 'slow_pattern', pattern: string, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'SplitPatternError';
    this.code = code;
    this.pattern = pattern;
  }
}
