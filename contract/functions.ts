import { z } from 'zod';

/** Types a parameter may have (R113). */
export const parameterType = z.enum(['string', 'int', 'float', 'dict', 'array']);
export type ParameterType = z.infer<typeof parameterType>;

/** A name that Python gets as a keyword; something of it is left when it is stored. */
const fieldName = z
  .string()
  .max(128)
  .regex(/[^\s\p{Cc}\p{Cs}]/u);

/** A parameter of a function; further keys of the editor are kept. `source` matters in workflows only. */
export const inputField = z.looseObject({
  name: fieldName,
  type: parameterType.default('string'),
  is_required: z.boolean().default(true),
  source: z.enum(['custom', 'reference']).default('reference'),
});
export type InputField = z.infer<typeof inputField>;

/** A field of the form that a function's owner fills in once: MaxKB's dynamic form, of which only these keys matter here. */
export const initField = z.looseObject({
  field: fieldName,
  input_type: z.string().max(64).default('TextInput'),
  required: z.boolean().nullish(),
});
export type InitField = z.infer<typeof initField>;

export const permissionType = z.enum(['PRIVATE', 'PUBLIC']);
export type PermissionType = z.infer<typeof permissionType>;

/** `PUBLIC` are functions of people, `INTERNAL` templates that come with the product. */
export const functionType = z.enum(['PUBLIC', 'INTERNAL']);
export type FunctionType = z.infer<typeof functionType>;

const name = z.string().max(128);
const desc = z.string().max(128);
const inputFieldList = z.array(inputField).max(100);
const initFieldList = z.array(initField).max(100);
const initParams = z.record(z.string(), z.unknown());

/** The body of `POST function_lib`. */
export const createFunctionBody = z.object({
  name,
  desc: desc.nullish(),
  code: z.string(),
  input_field_list: inputFieldList,
  init_field_list: initFieldList.nullish(),
  permission_type: permissionType,
});
export type CreateFunctionBody = z.infer<typeof createFunctionBody>;

/** The body of `PUT function_lib/:id`; what is absent or null stays. */
export const updateFunctionBody = z.object({
  name: name.nullish(),
  desc: desc.nullish(),
  code: z.string().nullish(),
  icon: z.string().max(256).nullish(),
  input_field_list: inputFieldList.nullish(),
  init_field_list: initFieldList.nullish(),
  init_params: initParams.nullish(),
  permission_type: permissionType.nullish(),
  is_active: z.boolean().nullish(),
});
export type UpdateFunctionBody = z.infer<typeof updateFunctionBody>;

/** The body of `POST function_lib/debug` (maxkb-v1-api.md section 9.1, R92). Of two values of one name the last counts. */
export const debugFunctionBody = z.object({
  code: z.string(),
  entrypoint: z.string().max(256).nullish(),
  debug_field_list: z.array(z.looseObject({ name: z.string(), value: z.unknown() })).nullish(),
  input_field_list: inputFieldList.nullish(),
  init_field_list: initFieldList.nullish(),
  init_params: initParams.nullish(),
});
export type DebugFunctionBody = z.infer<typeof debugFunctionBody>;

/** The body of `POST function_lib/:id/execute`: values by the names of the parameters. */
export const executeFunctionBody = z.strictObject({ params: z.record(z.string(), z.unknown()).nullish() });

/** The body of `POST function_lib/pylint`. */
export const checkSyntaxBody = z.object({ code: z.string() });

/** Filters of lists and pages; an empty one does not filter. */
export const functionFilterQuery = z.object({
  name: z.string().optional(),
  desc: z.string().optional(),
  function_type: z.union([functionType, z.literal('')]).optional(),
  select_user_id: z.string().optional(),
});

/** A function as it travels (maxkb-v1-api.md section 9). */
export const functionLib = z.object({
  id: z.string(),
  name: z.string(),
  icon: z.string(),
  desc: z.string(),
  code: z.string(),
  input_field_list: z.array(inputField),
  init_field_list: z.array(initField),
  /** Secrets masked; null in lists and for everybody but the owner. */
  init_params: z.record(z.string(), z.unknown()).nullable(),
  permission_type: permissionType,
  function_type: functionType,
  is_active: z.boolean(),
  user_id: z.string(),
  template_id: z.string().nullable(),
  create_time: z.string(),
  update_time: z.string(),
});
export type FunctionLib = z.infer<typeof functionLib>;

/** A place the syntax check points at, in pylint's shape: lines count from 1, columns from 0. */
export const lintProblem = z.object({
  line: z.number().int(),
  column: z.number().int(),
  endLine: z.number().int(),
  endColumn: z.number().int(),
  message: z.string(),
  type: z.enum(['error', 'warning']),
});
export type LintProblem = z.infer<typeof lintProblem>;

/** What `debug` and `execute` answer: the envelope, and beside its `data` what was printed and why it failed (R111). */
export const functionAnswer = z.object({
  code: z.number().int(),
  message: z.string(),
  /** The function's value; null where it failed. */
  data: z.unknown(),
  /** `truncated` stands only where more was printed than is kept. */
  logs: z.object({ stdout: z.string(), stderr: z.string(), truncated: z.literal(true).optional() }),
  /** `type`: the Python exception's class, or a code of ours such as `function_timeout`. Null where it succeeded. */
  error: z
    .object({
      type: z.string(),
      message: z.string(),
      line: z.number().int().nullable(),
      traceback: z.string().nullable(),
    })
    .nullable(),
});
export type FunctionAnswer = z.infer<typeof functionAnswer>;
