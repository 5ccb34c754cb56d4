import type { FunctionLib } from '../../contract/functions.ts';
import { type Caller, isOwner } from './function-access.ts';
import type { ListedFunction, StoredFunction } from './function-store.ts';
import { maskInitParams, withoutSecretDefaults } from './init-params.ts';

/** A function in full: init values only for its owner, the secrets among them masked (R115). */
export function presentFunction(stored: StoredFunction, caller: Caller): FunctionLib {
  const initParams = isOwner(stored, caller) ? maskInitParams(stored.initParams, stored.initFieldList) : null;
  return { ...presentListed(stored, caller), init_params: initParams };
}

/** A function in a list, where `init_params` is null for everybody. Times are UTC in ISO 8601 with milliseconds. */
export function presentListed(listed: ListedFunction, caller: Caller): FunctionLib {
  const fields = listed.initFieldList;
  return {
    id: listed.id,
    name: listed.name,
    icon: listed.icon,
    desc: listed.desc,
    code: listed.code,
    input_field_list: listed.inputFieldList,
    init_field_list: isOwner(listed, caller) ? fields : withoutSecretDefaults(fields),
    init_params: null,
    permission_type: listed.permissionType,
    function_type: listed.functionType,
    is_active: listed.isActive,
    user_id: listed.userId,
    template_id: listed.templateId,
    create_time: listed.createTime.toISOString(),
    update_time: listed.updateTime.toISOString(),
  };
}
