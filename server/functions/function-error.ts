/** Why the library refused something; the routes know how each is said over HTTP. */
export type FunctionErrorCode =
  | 'function_forbidden'
  | 'function_not_found'
  | 'function_not_yours'
  | 'function_inactive'
  | 'function_name_blank'
  | 'function_code_blank'
  | 'function_code_too_long'
  | 'function_field_twice'
  | 'function_field_too_deep'
  | 'function_fields_too_long'
  | 'function_init_params_too_long'
  | 'function_secret_masked'
  | 'function_file_missing'
  | 'function_file_too_large'
  | 'function_file_broken'
  | 'function_file_pickle';

/** An expected refusal. `values`: what its message needs, never a stored init value. */
export class FunctionError extends Error {
  readonly code: FunctionErrorCode;
  readonly values: readonly (string | number)[];

  constructor(code: FunctionErrorCode, values: readonly (string | number)[] = []) {
    super(`${code} ${values.join(' ')}`.trim());
    this.name = 'FunctionError';
    this.code = code;
    this.values = values;
  }
}
