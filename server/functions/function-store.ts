import { v7 as uuidv7 } from 'uuid';
import type { FunctionType, InitField, InputField, PermissionType } from '../../contract/functions.ts';
import type { Database } from '../database/database.ts';
import { storableJson, storableText } from '../text/storable.ts';
import type { JsonValue } from './python-sandbox.ts';

/** A function as it is stored; json columns are parsed by the driver. */
export interface StoredFunction {
  id: string;
  userId: string;
  name: string;
  desc: string;
  icon: string;
  code: string;
  inputFieldList: InputField[];
  initFieldList: InitField[];
  /** Secrets as they are: present them masked, and to their owner only. */
  initParams: Record<string, JsonValue> | null;
  permissionType: PermissionType;
  functionType: FunctionType;
  templateId: string | null;
  isActive: boolean;
  createTime: Date;
  updateTime: Date;
}

/** A function as lists show it: they never carry init values. */
export type ListedFunction = Omit<StoredFunction, 'initParams'>;

export type NewFunction = Pick<
  StoredFunction,
  'userId' | 'name' | 'desc' | 'code' | 'inputFieldList' | 'initFieldList' | 'permissionType'
>;

export type ChangedFunction = Pick<
  StoredFunction,
  'name' | 'desc' | 'icon' | 'code' | 'inputFieldList' | 'initFieldList' | 'initParams' | 'permissionType' | 'isActive'
>;

/** Which functions a list holds; null does not filter. `name` and `desc` are found anywhere, in any case. */
export interface FunctionFilter {
  /** Sees their own functions and the PUBLIC ones. */
  callerId: string;
  name: string | null;
  desc: string | null;
  functionType: FunctionType | null;
  userId: string | null;
}

const LISTED_COLUMNS = `id, user_id as "userId", name, "desc", icon, code, input_field_list as "inputFieldList",
  init_field_list as "initFieldList", permission_type as "permissionType", function_type as "functionType",
  template_id as "templateId", is_active as "isActive", create_time as "createTime", update_time as "updateTime"`;
const COLUMNS = `${LISTED_COLUMNS}, init_params as "initParams"`;

// strpos and not like: a name may hold % and _.
const IS_LISTED = `not is_deleted and (user_id = $1 or permission_type = 'PUBLIC')
  and ($2::text is null or strpos(lower(name), lower($2)) > 0) and ($3::text is null or strpos(lower("desc"), lower($3)) > 0)
  and ($4::text is null or function_type = $4) and ($5::uuid is null or user_id = $5)`;

/** The function library in the database. Who may see what is decided by function-access.ts. */
export class FunctionStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Everything `work` does to the store commits together. */
  transaction<T>(work: () => Promise<T>): Promise<T> {
    return this.#database.transaction(work);
  }

  /** Stores a function, not active yet. */
  async insert(created: NewFunction): Promise<StoredFunction> {
    const rows = await this.#database.query<StoredFunction>(
      `insert into max_kb_function_lib (id, user_id, name, "desc", code, input_field_list, init_field_list, permission_type)
       values ($1, $2, $3, $4, $5, $6, $7, $8) returning ${COLUMNS}`,
      [
        uuidv7(),
        created.userId,
        storableText(created.name),
        storableText(created.desc),
        storableText(created.code),
        storableJson(created.inputFieldList),
        storableJson(created.initFieldList),
        created.permissionType,
      ],
    );
    return onlyRow(rows);
  }

  async find(functionId: string): Promise<StoredFunction | null> {
    const [row] = await this.#database.query<StoredFunction>(
      `select ${COLUMNS} from max_kb_function_lib where id = $1 and not is_deleted`,
      [functionId],
    );
    return row ?? null;
  }

  /** As `find`; until the transaction ends no other may change the function. */
  async findForUpdate(functionId: string): Promise<StoredFunction | null> {
    const [row] = await this.#database.query<StoredFunction>(
      `select ${COLUMNS} from max_kb_function_lib where id = $1 and not is_deleted for update`,
      [functionId],
    );
    return row ?? null;
  }

  async update(functionId: string, changed: ChangedFunction): Promise<StoredFunction> {
    const rows = await this.#database.query<StoredFunction>(
      `update max_kb_function_lib set name = $2, "desc" = $3, icon = $4, code = $5, input_field_list = $6, init_field_list = $7,
         init_params = $8, permission_type = $9, is_active = $10, update_time = clock_timestamp()
       where id = $1 and not is_deleted returning ${COLUMNS}`,
      [
        functionId,
        storableText(changed.name),
        storableText(changed.desc),
        storableText(changed.icon),
        storableText(changed.code),
        storableJson(changed.inputFieldList),
        storableJson(changed.initFieldList),
        changed.initParams === null ? null : storableJson(changed.initParams),
        changed.permissionType,
        changed.isActive,
      ],
    );
    return onlyRow(rows);
  }

  /** The row stays for whoever has to look back; its init values, secrets among them, do not. */
  async softDelete(functionId: string): Promise<void> {
    await this.#database.query(
      `update max_kb_function_lib set is_deleted = true, is_active = false, init_params = null, update_time = clock_timestamp()
       where id = $1`,
      [functionId],
    );
  }

  /** Newest first. */
  async list(filter: FunctionFilter): Promise<ListedFunction[]> {
    return this.#database.query<ListedFunction>(
      `select ${LISTED_COLUMNS} from max_kb_function_lib where ${IS_LISTED} order by create_time desc, id desc`,
      filterValues(filter),
    );
  }

  /** Whether any function may be called. */
  async hasActive(): Promise<boolean> {
    const rows = await this.#database.query(
      'select 1 from max_kb_function_lib where is_active and not is_deleted limit 1',
    );
    return rows.length > 0;
  }

  /** One page, newest first, and how many there are in all. `page` counts from 1. */
  async page(
    filter: FunctionFilter,
    { page, size }: { page: number; size: number },
  ): Promise<{ total: number; records: ListedFunction[] }> {
    const [count] = await this.#database.query<{ total: number }>(
      `select count(*) as total from max_kb_function_lib where ${IS_LISTED}`,
      filterValues(filter),
    );
    const records = await this.#database.query<ListedFunction>(
      `select ${LISTED_COLUMNS} from max_kb_function_lib where ${IS_LISTED}
       order by create_time desc, id desc limit $6 offset $7`,
      [...filterValues(filter), size, (page - 1) * size],
    );
    return { total: count?.total ?? 0, records };
  }
}

function filterValues({ callerId, name, desc, functionType, userId }: FunctionFilter): (string | null)[] {
  return [callerId, name && storableText(name), desc && storableText(desc), functionType, userId];
}

/** Of a statement that writes one row and returns it. */
function onlyRow(rows: StoredFunction[]): StoredFunction {
  const [row] = rows;
  if (!row) throw new Error('The function was not stored.');
  return row;
}
