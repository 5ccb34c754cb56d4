import { z } from 'zod';
import { createFunctionBody } from './functions.ts';

/**
 * A `.fx` file: what a function is, without its owner, its init values and what its password fields start with. JSON
 * of our own: MaxKB's is a Python pickle, which is code.
 */
export const functionFile = z.object({
  format: z.literal('knowhy.function'),
  version: z.literal(1),
  function: createFunctionBody.omit({ permission_type: true }),
});
export type FunctionFile = z.infer<typeof functionFile>;
