import type { PermissionType } from '../../contract/functions.ts';
import { FunctionError } from './function-error.ts';

/** Who asks. A visitor came through a share link. An administrator has no more rights here than a user. */
export interface Caller {
  id: string;
  role: 'ADMIN' | 'USER' | 'VISITOR';
}

/** What the rules need to know of a function. */
export interface OwnedFunction {
  userId: string;
  permissionType: PermissionType;
}

/** A visitor may never come near the library, whatever the function (R73). Throws FunctionError. */
export function requireLibraryUser(caller: Caller): void {
  if (caller.role === 'VISITOR') throw new FunctionError('function_forbidden');
}

/** True for the owner alone: only they change a function and see its init values (R115). */
export function isOwner(found: Pick<OwnedFunction, 'userId'>, caller: Caller): boolean {
  return found.userId === caller.id;
}

/**
 * Gives the function to a caller who may read and execute it: its owner, and everybody else where it is PUBLIC.
 * Another owner's PRIVATE function is as unknown as one that does not exist (R73). Throws FunctionError.
 */
export function requireReadable<T extends OwnedFunction>(found: T | null, caller: Caller): T {
  requireLibraryUser(caller);
  if (!found || !(isOwner(found, caller) || found.permissionType === 'PUBLIC')) {
    throw new FunctionError('function_not_found');
  }
  return found;
}

/** Gives the function to its owner. Others learn no more of it than by reading. Throws FunctionError. */
export function requireOwned<T extends OwnedFunction>(found: T | null, caller: Caller): T {
  const readable = requireReadable(found, caller);
  if (!isOwner(readable, caller)) throw new FunctionError('function_not_yours');
  return readable;
}
