import type { FunctionFile } from '../../contract/function-file.ts';
import type { Caller } from './function-access.ts';
import type { FunctionStore } from './function-store.ts';
import { withoutSecretDefaults } from './init-params.ts';
import { readFunction } from './read-functions.ts';

/**
 * A function as a file for somebody else, whoever asks for it: never with init values, nor with what password fields
 * start with (R115). Throws FunctionError.
 */
export async function exportFunction(store: FunctionStore, caller: Caller, functionId: string): Promise<FunctionFile> {
  const { name, desc, code, inputFieldList, initFieldList } = await readFunction(store, caller, functionId);
  return {
    format: 'knowhy.function',
    version: 1,
    function: {
      name,
      desc,
      code,
      input_field_list: inputFieldList,
      init_field_list: withoutSecretDefaults(initFieldList),
    },
  };
}
