import type { CreateFunctionBody } from '../../contract/functions.ts';
import { checkCode, checkFields, checkName } from './check-function.ts';
import { type Caller, requireLibraryUser } from './function-access.ts';
import type { FunctionStore, StoredFunction } from './function-store.ts';

/** Stores a new function of the caller, not active yet. Throws FunctionError. */
export async function createFunction(
  store: FunctionStore,
  caller: Caller,
  body: CreateFunctionBody,
): Promise<StoredFunction> {
  requireLibraryUser(caller);
  const initFieldList = body.init_field_list ?? [];
  checkFields(body.input_field_list, initFieldList);
  return store.insert({
    userId: caller.id,
    name: checkName(body.name),
    desc: body.desc ?? '',
    code: checkCode(body.code),
    inputFieldList: body.input_field_list,
    initFieldList,
    permissionType: body.permission_type,
  });
}
