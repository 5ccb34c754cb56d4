export type ParseErrorCode =
  | 'unsupported_format'
  | 'empty_document'
  | 'damaged_document'
  | 'encrypted_document'
  | 'needs_ocr'
  | 'too_large';

/** A document that cannot become text. The message is meant for the person who uploaded it. */
export class ParseError extends Error {
  readonly code: ParseErrorCode;

  constructor(code: ParseErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'ParseError';
    this.code = code;
  }
}
