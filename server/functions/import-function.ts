import { type FunctionFile, functionFile } from '../../contract/function-file.ts';
import { createFunction } from './create-function.ts';
import { type Caller, requireLibraryUser } from './function-access.ts';
import { FunctionError } from './function-error.ts';
import type { FunctionStore, StoredFunction } from './function-store.ts';

/** Stores the function of a `.fx` file as a new one of the caller, PRIVATE and not active yet. Throws FunctionError. */
export async function importFunction(store: FunctionStore, caller: Caller, file: Buffer): Promise<StoredFunction> {
  requireLibraryUser(caller);
  const { function: content } = readFunctionFile(file);
  return createFunction(store, caller, { ...content, permission_type: 'PRIVATE' });
}

function readFunctionFile(file: Buffer): FunctionFile {
  // A pickle starts with its protocol: MaxKB's own files.
  if (file[0] === 0x80) throw new FunctionError('function_file_pickle');
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(file), refusePrototype);
  } catch {
    throw new FunctionError('function_file_broken');
  }
  const { data } = functionFile.safeParse(parsed);
  if (data === undefined) throw new FunctionError('function_file_broken');
  return data;
}

/** As in the body of a request: a key that could reach the prototype of objects is no name of anything. */
function refusePrototype(key: string, value: unknown): unknown {
  if (key === '__proto__') throw new SyntaxError('a forbidden key');
  return value;
}
