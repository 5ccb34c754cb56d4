import type { FunctionErrorCode } from '../functions/function-error.ts';
import type { FUNCTION_MESSAGES } from './function-messages.ts';
import type { MessageCode } from './messages.ts';

/** Why a function gave no value is no refusal: it is answered by the route itself, logs and all. */
export type RefusalCode = Exclude<MessageCode, 'success' | keyof typeof FUNCTION_MESSAGES> | FunctionErrorCode;

/** A request that is answered with an error on purpose; `values` fill the message of its code. */
export class Refusal extends Error {
  readonly code: RefusalCode;
  readonly values: readonly (string | number)[];

  constructor(code: RefusalCode, values: readonly (string | number)[] = []) {
    super(`${code} ${values.join(' ')}`.trim());
    this.name = 'Refusal';
    this.code = code;
    this.values = values;
  }
}

/**
 * HTTP status and envelope code of each refusal (maxkb-v1-api.md section 1.2). Business and validation errors
 * are HTTP 200; their envelope code is never 200. `busy` 409, `compaction_stopped` 409, `events_gone` 410, `question_too_long` 413, `blank_question` 422 and
 * the unknown things 404 are ours, the others MaxKB's.
 */
export const REFUSALS: Readonly<Record<RefusalCode, { status: number; code: number }>> = {
  token_missing: { status: 401, code: 1003 },
  token_wrong: { status: 401, code: 1002 },
  foreign_host: { status: 403, code: 403 },
  foreign_origin: { status: 403, code: 403 },
  route_not_found: { status: 404, code: 404 },
  malformed_request: { status: 400, code: 400 },
  malformed_json: { status: 200, code: 500 },
  invalid_field: { status: 200, code: 500 },
  body_too_large: { status: 413, code: 413 },
  unsupported_media_type: { status: 415, code: 415 },
  internal_error: { status: 200, code: 500 },
  blank_question: { status: 200, code: 422 },
  question_too_long: { status: 200, code: 413 },
  busy: { status: 200, code: 409 },
  chat_not_found: { status: 200, code: 404 },
  record_not_found: { status: 200, code: 404 },
  compaction_stopped: { status: 200, code: 409 },
  events_gone: { status: 200, code: 410 },
  application_not_found: { status: 200, code: 404 },
  function_forbidden: { status: 403, code: 403 },
  function_not_yours: { status: 403, code: 403 },
  function_not_found: { status: 200, code: 404 },
  function_inactive: { status: 200, code: 500 },
  function_name_blank: { status: 200, code: 500 },
  function_code_blank: { status: 200, code: 500 },
  function_code_too_long: { status: 200, code: 500 },
  function_field_twice: { status: 200, code: 500 },
  function_field_too_deep: { status: 200, code: 500 },
  function_fields_too_long: { status: 200, code: 500 },
  function_init_params_too_long: { status: 200, code: 500 },
  function_secret_masked: { status: 200, code: 500 },
  function_file_missing: { status: 200, code: 500 },
  function_file_too_large: { status: 200, code: 1001 },
  function_file_broken: { status: 200, code: 1001 },
  function_file_pickle: { status: 200, code: 1001 },
};
