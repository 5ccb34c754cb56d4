import { type Caller, requireLibraryUser, requireOwned } from './function-access.ts';
import type { FunctionStore } from './function-store.ts';

/** Takes a function of the caller out of the library for good. Throws FunctionError. */
export async function deleteFunction(store: FunctionStore, caller: Caller, functionId: string): Promise<void> {
  requireLibraryUser(caller);
  await store.transaction(async () => {
    requireOwned(await store.findForUpdate(functionId), caller);
    await store.softDelete(functionId);
  });
}
