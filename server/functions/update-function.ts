import type { UpdateFunctionBody } from '../../contract/functions.ts';
import { checkCode, checkFields, checkName } from './check-function.ts';
import { type Caller, requireLibraryUser, requireOwned } from './function-access.ts';
import type { ChangedFunction, FunctionStore, StoredFunction } from './function-store.ts';
import { declaredInitParams, mergeInitParams } from './init-params.ts';

/**
 * Changes what the body names of a function of the caller; absent and null leave it as it is. Two changes at once take
 * turns, so that neither undoes what the other named. Throws FunctionError.
 */
export async function updateFunction(
  store: FunctionStore,
  caller: Caller,
  { functionId, body }: { functionId: string; body: UpdateFunctionBody },
): Promise<StoredFunction> {
  requireLibraryUser(caller);
  return store.transaction(async () => {
    const stored = requireOwned(await store.findForUpdate(functionId), caller);
    return store.update(functionId, changed(stored, body));
  });
}

function changed(stored: StoredFunction, body: UpdateFunctionBody): ChangedFunction {
  const inputFieldList = body.input_field_list ?? stored.inputFieldList;
  const initFieldList = body.init_field_list ?? stored.initFieldList;
  checkFields(inputFieldList, initFieldList);
  return {
    name: checkName(body.name ?? stored.name),
    desc: body.desc ?? stored.desc,
    icon: body.icon ?? stored.icon,
    code: checkCode(body.code ?? stored.code),
    inputFieldList,
    initFieldList,
    initParams: body.init_params
      ? mergeInitParams(
          { params: stored.initParams, fields: stored.initFieldList },
          { params: body.init_params, fields: initFieldList },
        )
      : declaredInitParams(stored.initParams, initFieldList),
    permissionType: body.permission_type ?? stored.permissionType,
    isActive: body.is_active ?? stored.isActive,
  };
}
