import type { CreateFunctionBody, InputField } from '../../contract/functions.ts';
import type { Caller } from '../functions/function-access.ts';

export const OWNER: Caller = { id: '0190a000-0000-7000-8000-0000000000a1', role: 'USER' };
export const OTHER: Caller = { id: '0190a000-0000-7000-8000-0000000000a2', role: 'USER' };
export const ADMIN: Caller = { id: '0190a000-0000-7000-8000-0000000000a3', role: 'ADMIN' };
/** A visitor acts under the id of the application's owner (maxkb-v1-api.md section 1.5). */
export const VISITOR: Caller = { id: OWNER.id, role: 'VISITOR' };

/** A parameter with defaults for what a test does not care about. */
export function inputField(name: string, changes: Partial<InputField> = {}): InputField {
  return { name, type: 'string', is_required: true, source: 'custom', ...changes };
}

/** The body of a new function with defaults for what a test does not care about. */
export function functionBody(changes: Partial<CreateFunctionBody> = {}): CreateFunctionBody {
  return {
    name: '求和',
    code: 'def add(a):\n    return a',
    input_field_list: [inputField('a', { type: 'int' })],
    permission_type: 'PRIVATE',
    ...changes,
  };
}
