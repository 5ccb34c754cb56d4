import { z } from 'zod';
import { initFieldList, inputFieldList } from './functions.ts';

/**
 * A `.fx` file: what a function is, without its owner, its init values and what its password fields start with. JSON
 * of our own: MaxKB's is a Python pickle, which is code.
 */
export const functionFile = z.object({
  format: z.literal('knowhy.function'),
  version: z.literal(1),
  function: z.object({
    name: z.string().max(128),
    desc: z.string().max(128).default(''),
    code: z.string(),
    input_field_list: inputFieldList,
    init_field_list: initFieldList.default([]),
  }),
});
export type FunctionFile = z.infer<typeof functionFile>;
