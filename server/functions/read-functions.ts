import { type Caller, requireLibraryUser, requireReadable } from './function-access.ts';
import type { FunctionFilter, FunctionStore, ListedFunction, StoredFunction } from './function-store.ts';

export type AskedFilter = Omit<FunctionFilter, 'callerId'>;

/** A function that the caller may read. Its init values are for the owner only, masked. Throws FunctionError. */
export async function readFunction(store: FunctionStore, caller: Caller, functionId: string): Promise<StoredFunction> {
  requireLibraryUser(caller);
  return requireReadable(await store.find(functionId), caller);
}

/** The caller's functions and the PUBLIC ones of others, newest first. Throws FunctionError. */
export async function listFunctions(
  store: FunctionStore,
  caller: Caller,
  filter: AskedFilter,
): Promise<ListedFunction[]> {
  requireLibraryUser(caller);
  return store.list({ ...filter, callerId: caller.id });
}

/** One page of the same list. `page` counts from 1. Throws FunctionError. */
export async function pageFunctions(
  store: FunctionStore,
  caller: Caller,
  { filter, page, size }: { filter: AskedFilter; page: number; size: number },
): Promise<{ total: number; records: ListedFunction[] }> {
  requireLibraryUser(caller);
  return store.page({ ...filter, callerId: caller.id }, { page, size });
}
