import { type Caller, requireLibraryUser } from './function-access.ts';
import type { PythonFunctionService, SyntaxResult } from './python-function-service.ts';

/** Checks code for a function's editor, which asks with every change. Nothing is fine with no code. Throws FunctionError. */
export async function checkSyntax(
  service: PythonFunctionService,
  caller: Caller,
  { code, signal }: { code: string; signal: AbortSignal },
): Promise<SyntaxResult> {
  requireLibraryUser(caller);
  if (code.trim() === '') return { kind: 'checked', problems: [] };
  return service.checkSyntax(code, { caller: caller.id, signal });
}
