import type { DebugFunctionBody } from '../../contract/functions.ts';
import { checkFields } from './check-function.ts';
import { type Caller, requireLibraryUser } from './function-access.ts';
import { checkInitParams } from './init-params.ts';
import type { FunctionResult, PythonFunctionService } from './python-function-service.ts';

/** Calls a function that is being written: all of it is in the body, nothing is stored. Throws FunctionError. */
export async function debugFunction(
  service: PythonFunctionService,
  caller: Caller,
  { body, signal }: { body: DebugFunctionBody; signal: AbortSignal },
): Promise<FunctionResult> {
  requireLibraryUser(caller);
  const inputFields = body.input_field_list ?? [];
  const initFields = body.init_field_list ?? [];
  checkFields(inputFields, initFields);
  return service.execute({
    code: body.code,
    entrypoint: body.entrypoint || null,
    inputFields,
    initFields,
    initParams: checkInitParams(body.init_params ?? {}, initFields),
    values: new Map((body.debug_field_list ?? []).map(({ name, value }) => [name, value])),
    unknownNames: 'ignore',
    caller: { id: caller.id, isOwner: true },
    signal,
  });
}
