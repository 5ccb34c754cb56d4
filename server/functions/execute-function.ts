import { type Caller, isOwner } from './function-access.ts';
import { FunctionError } from './function-error.ts';
import type { FunctionStore } from './function-store.ts';
import type { FunctionResult, PythonFunctionService } from './python-function-service.ts';
import { readFunction } from './read-functions.ts';

export interface ExecutePorts {
  store: FunctionStore;
  service: PythonFunctionService;
}

/**
 * Calls a function that the caller may read, with its owner's init values (R115), its last function as the entry.
 * Throws FunctionError: unknown, or not active.
 */
export async function executeFunction(
  { store, service }: ExecutePorts,
  caller: Caller,
  call: { functionId: string; values: ReadonlyMap<string, unknown>; signal: AbortSignal },
): Promise<FunctionResult> {
  const stored = await readFunction(store, caller, call.functionId);
  if (!stored.isActive) throw new FunctionError('function_inactive', [stored.name]);
  return service.execute({
    code: stored.code,
    // Never the caller's choice: a helper of another's function was not meant to be called from outside.
    entrypoint: null,
    inputFields: stored.inputFieldList,
    initFields: stored.initFieldList,
    initParams: stored.initParams,
    values: call.values,
    unknownNames: 'refuse',
    caller: { id: caller.id, isOwner: isOwner(stored, caller) },
    signal: call.signal,
  });
}
