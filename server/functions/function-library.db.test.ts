import { Writable } from 'node:stream';
import { pino } from 'pino';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import type { CreateFunctionBody, InitField, UpdateFunctionBody } from '../../contract/functions.ts';
import type { Database } from '../database/database.ts';
import { describeOnDatabases } from '../testing/databases.ts';
import { FakePythonSandbox } from '../testing/fake-python-sandbox.ts';
import { ADMIN, functionBody, inputField, OTHER, OWNER, VISITOR } from '../testing/functions.ts';
import { createFunction } from './create-function.ts';
import { debugFunction } from './debug-function.ts';
import { deleteFunction } from './delete-function.ts';
import { executeFunction } from './execute-function.ts';
import type { Caller } from './function-access.ts';
import { FunctionStore, type StoredFunction } from './function-store.ts';
import { presentFunction } from './present-function.ts';
import { PythonFunctionService } from './python-function-service.ts';
import { listFunctions, pageFunctions, readFunction } from './read-functions.ts';
import { SandboxError } from './sandbox-error.ts';
import { updateFunction } from './update-function.ts';

const SECRET = 'sk-live-0123456789';
const MASKED = 'sk-live***************6789';
const KEY_FIELD: InitField = { field: 'key', input_type: 'PasswordInput', label: 'Key' };
const UNKNOWN_ID = '0190a000-0000-7000-8000-00000000ffff';
const NO_FILTER = { name: null, desc: null, functionType: null, userId: null };
const { signal } = new AbortController();

describeOnDatabases('the function library', (open) => {
  let database: Database;
  let store: FunctionStore;
  let sandbox: FakePythonSandbox;
  let service: PythonFunctionService;
  let logged = '';

  beforeAll(async () => {
    database = await open();
    store = new FunctionStore(database);
  });
  beforeEach(async () => {
    await database.query('delete from max_kb_function_lib');
    sandbox = new FakePythonSandbox();
    logged = '';
    const sink = new Writable({
      write: (chunk, _encoding, done) => {
        logged += String(chunk);
        done();
      },
    });
    service = new PythonFunctionService({ sandbox, log: pino({ level: 'trace' }, sink) });
  });

  const create = (body: Partial<CreateFunctionBody> = {}, caller: Caller = OWNER) =>
    createFunction(store, caller, functionBody(body));
  const update = (functionId: string, body: UpdateFunctionBody, caller: Caller = OWNER) =>
    updateFunction(store, caller, { functionId, body });
  const execute = (functionId: string, values: Record<string, unknown>, caller: Caller = OWNER) =>
    executeFunction({ store, service }, caller, { functionId, values: new Map(Object.entries(values)), signal });
  const names = async (caller: Caller, filter: Partial<typeof NO_FILTER> | object = {}) =>
    (await listFunctions(store, caller, { ...NO_FILTER, ...filter })).map(({ name }) => name);

  /** An active function whose secret is `SECRET`. */
  async function createWithSecret(body: Partial<CreateFunctionBody> = {}): Promise<StoredFunction> {
    const { id } = await create({ init_field_list: [KEY_FIELD], ...body });
    return update(id, { init_params: { key: SECRET }, is_active: true });
  }

  it('R111 stores a function as it was sent, inactive, and reads it back', async () => {
    const field = { ...inputField('名', { type: 'dict' }), extra: { of: ['the editor'] } };
    const code = "# '); drop table max_kb_function_lib; --\ndef f(): return '😀'\n";

    const created = await create({ name: "Robert'); drop table %_$1", desc: '说明', code, input_field_list: [field] });

    expect(created).toMatchObject({ name: "Robert'); drop table %_$1", desc: '说明', code, inputFieldList: [field] });
    expect(created).toMatchObject({ isActive: false, initParams: null, icon: '/ui/favicon.ico', userId: OWNER.id });
    expect(await readFunction(store, OWNER, created.id)).toEqual(created);
  });

  it('R111 takes names of 128 characters and code of 64 KiB, and says how much was too much', async () => {
    const filler = (bytes: number) =>
      `#${'中'.repeat(Math.floor((bytes - 1) / 3))}`.padEnd(bytes - 2 * Math.floor((bytes - 1) / 3), 'x');

    const { code, name } = await create({ code: filler(65_536), name: '名'.repeat(128) });

    expect([Buffer.byteLength(code), name.length]).toEqual([65_536, 128]);
    await expect(create({ code: filler(65_537) })).rejects.toMatchObject({
      code: 'function_code_too_long',
      values: [65_537, 65_536],
    });
    await expect(create({ code: ' \n' })).rejects.toMatchObject({ code: 'function_code_blank' });
    await expect(create({ name: ' \u0000 ' })).rejects.toMatchObject({ code: 'function_name_blank' });
  });

  it('stores text with U+0000 and lone surrogates without them, names of fields and keys too', async () => {
    const { id } = await create({
      name: 'a\u0000b\ud800',
      code: 'x = "\u0000\udc00"',
      input_field_list: [{ ...inputField('p\u0000'), 'k\u0000': { '\ud800': 'v\u0000' } }],
      init_field_list: [{ field: 'i\u0000', input_type: 'TextInput' }],
    });
    await update(id, { init_params: { i: { '\u0000': '\u0000' } } });

    expect(await readFunction(store, OWNER, id)).toMatchObject({
      name: 'ab\ufffd',
      code: 'x = "\ufffd"',
      inputFieldList: [{ name: 'p', k: { '\ufffd': 'v' } }],
      initParams: { i: { '': '' } },
    });
    expect(await names(OWNER, { name: 'B\u0000\ud800', desc: '\u0000' })).toEqual(['ab\ufffd']);
  });

  it('refuses two parameters of one name, also such as are one when stored', async () => {
    const twice = [inputField('a'), inputField('a\u0000')];

    await expect(create({ input_field_list: twice })).rejects.toMatchObject({ code: 'function_field_twice' });
    await expect(create({ init_field_list: [KEY_FIELD, KEY_FIELD] })).rejects.toMatchObject({ values: ['key'] });
  });

  it('changes only what is named; null changes nothing', async () => {
    const created = await create({ desc: 'old' });

    const updated = await update(created.id, { name: 'new', desc: null, is_active: true, permission_type: 'PUBLIC' });

    const { updateTime, ...rest } = updated;
    expect(rest).toEqual({
      ...created,
      updateTime: undefined,
      name: 'new',
      isActive: true,
      permissionType: 'PUBLIC',
    });
    expect(updateTime >= created.updateTime).toBe(true);
  });

  it('loses nothing of two changes at once', async () => {
    const { id } = await create({ init_field_list: [KEY_FIELD] });
    const changes: UpdateFunctionBody[] = [
      { name: 'changed' },
      { desc: 'changed' },
      { code: 'def changed(): pass' },
      { init_params: { key: SECRET } },
      { is_active: true },
      { icon: '/changed.png' },
    ];

    await Promise.all(changes.map((change) => update(id, change)));

    expect(await readFunction(store, OWNER, id)).toMatchObject({
      name: 'changed',
      desc: 'changed',
      code: 'def changed(): pass',
      initParams: { key: SECRET },
      isActive: true,
      icon: '/changed.png',
    });
  });

  it('stores nothing of a change that is refused', async () => {
    const created = await createWithSecret();

    await expect(update(created.id, { name: 'x', init_params: { key: 'ab***************z' } })).rejects.toMatchObject({
      code: 'function_secret_masked',
    });
    expect(await readFunction(store, OWNER, created.id)).toEqual(created);
  });

  it('deletes softly: nobody finds it any more, the row stays, its secrets do not', async () => {
    const { id } = await createWithSecret({ permission_type: 'PUBLIC' });

    await deleteFunction(store, OWNER, id);

    for (const attempt of [
      () => readFunction(store, OWNER, id),
      () => update(id, {}),
      () => deleteFunction(store, OWNER, id),
      () => execute(id, { a: 1 }),
    ])
      await expect(attempt()).rejects.toMatchObject({ code: 'function_not_found' });
    expect(await names(OWNER)).toEqual([]);
    expect(await database.query('select is_deleted, init_params from max_kb_function_lib')).toEqual([
      { is_deleted: true, init_params: null },
    ]);
  });

  it('lists own and PUBLIC functions, newest first, by parts of name and description in any case', async () => {
    await create({ name: 'Alpha_1', desc: 'Sums' });
    await create({ name: 'alphaX1', permission_type: 'PUBLIC' }, OTHER);
    await create({ name: 'hidden alpha' }, OTHER);
    await create({ name: '100%' });

    expect(await names(OWNER)).toEqual(['100%', 'alphaX1', 'Alpha_1']);
    expect(await names(ADMIN)).toEqual(['alphaX1']);
    expect(await names(OWNER, { name: 'ALPHA' })).toEqual(['alphaX1', 'Alpha_1']);
    expect(await names(OWNER, { name: 'alpha_' })).toEqual(['Alpha_1']);
    expect(await names(OWNER, { name: '%' })).toEqual(['100%']);
    expect(await names(OWNER, { name: "' or 1=1 --" })).toEqual([]);
    expect(await names(OWNER, { desc: 'sum' })).toEqual(['Alpha_1']);
    expect(await names(OWNER, { userId: OTHER.id })).toEqual(['alphaX1']);
    expect(await names(OWNER, { functionType: 'INTERNAL' })).toEqual([]);
    expect(await names(OWNER, { functionType: 'PUBLIC' })).toHaveLength(3);
  });

  it('pages with the number of all', async () => {
    for (const name of ['1', '2', '3']) await create({ name });
    const page = (number: number) => pageFunctions(store, OWNER, { filter: NO_FILTER, page: number, size: 2 });

    expect([(await page(1)).total, (await page(1)).records.map(({ name }) => name)]).toEqual([3, ['3', '2']]);
    expect((await page(2)).records.map(({ name }) => name)).toEqual(['1']);
    expect(await page(9)).toEqual({ total: 3, records: [] });
  });

  it('R73 R115 lets owner, other users, administrators and visitors do what each may, and no more', async () => {
    sandbox.onRun = () => ({ kind: 'value', value: 1 });
    const actions: Record<string, (caller: Caller, id: string) => Promise<unknown>> = {
      read: (caller, id) => readFunction(store, caller, id),
      execute: (caller, id) => execute(id, { a: 1 }, caller),
      update: (caller, id) => update(id, { name: 'changed' }, caller),
      delete: (caller, id) => deleteFunction(store, caller, id),
    };
    const attempt = async (permission_type: 'PRIVATE' | 'PUBLIC', caller: Caller) => {
      const results: Record<string, string> = {};
      for (const [name, action] of Object.entries(actions)) {
        const { id } = await createWithSecret({ permission_type });
        results[name] = await action(caller, id).then(
          () => 'done',
          (error: { code: string }) => error.code,
        );
      }
      return results;
    };
    const all = (outcome: string) => ({ read: outcome, execute: outcome, update: outcome, delete: outcome });
    const readOnly = { ...all('done'), update: 'function_not_yours', delete: 'function_not_yours' };

    expect(await attempt('PRIVATE', OWNER)).toEqual(all('done'));
    expect(await attempt('PUBLIC', OWNER)).toEqual(all('done'));
    expect(await attempt('PUBLIC', OTHER)).toEqual(readOnly);
    expect(await attempt('PUBLIC', ADMIN)).toEqual(readOnly);
    expect(await attempt('PRIVATE', OTHER)).toEqual(all('function_not_found'));
    expect(await attempt('PRIVATE', ADMIN)).toEqual(all('function_not_found'));
    expect(await attempt('PUBLIC', VISITOR)).toEqual(all('function_forbidden'));
    expect(await attempt('PRIVATE', VISITOR)).toEqual(all('function_forbidden'));
    for (const run of [
      () => create({}, VISITOR),
      () => names(VISITOR),
      () => pageFunctions(store, VISITOR, { filter: NO_FILTER, page: 1, size: 1 }),
      () => debugFunction(service, VISITOR, { body: { code: 'def f(): pass' }, signal }),
      () => readFunction(store, VISITOR, UNKNOWN_ID),
    ])
      await expect(run()).rejects.toMatchObject({ code: 'function_forbidden' });
  });

  it('says the same of another’s PRIVATE function as of one that does not exist', async () => {
    const { id } = await create();
    const error = async (functionId: string) =>
      readFunction(store, OTHER, functionId).catch((thrown: Error) => ({ ...thrown, message: thrown.message }));

    expect(await error(id)).toEqual(await error(UNKNOWN_ID));
  });

  it('R115 shows init values to nobody but the owner, and secrets to nobody', async () => {
    const stored = await createWithSecret({ permission_type: 'PUBLIC' });

    expect(presentFunction(stored, OWNER).init_params).toEqual({ key: MASKED });
    expect(presentFunction(stored, OTHER).init_params).toBeNull();
    expect(JSON.stringify(await listFunctions(store, OWNER, NO_FILTER))).not.toContain(SECRET);
    const kept = await update(stored.id, { init_params: { key: MASKED, undeclared: 1 } });
    expect(kept.initParams).toEqual({ key: SECRET });
  });

  it('forgets the init values of fields that are taken away', async () => {
    const { id } = await createWithSecret();

    expect((await update(id, { init_field_list: [] })).initParams).toEqual({});
  });

  it('R114 R115 R116 calls with the owner’s init values below the caller’s own, and hides secrets from others', async () => {
    const { id } = await createWithSecret({ permission_type: 'PUBLIC' });
    const traceback = `Traceback\nKeyError: '${SECRET}'`;
    sandbox.onRun = () => ({
      kind: 'value',
      value: { [SECRET]: [`Bearer ${SECRET}`, 1] },
      stdout: SECRET,
      stderr: `e ${SECRET}`,
    });

    const own = await execute(id, { a: '41' });
    const others = await execute(id, { a: '41' }, OTHER);
    sandbox.onRun = () => ({ kind: 'exception', type: 'KeyError', message: `'${SECRET}'`, line: 2, traceback });
    const failed = await execute(id, { a: '41' }, OTHER);

    expect(sandbox.runs[0]).toMatchObject({ arguments: { key: SECRET, a: 41 }, entrypoint: null, caller: OWNER.id });
    expect(sandbox.runs[1]).toMatchObject({ arguments: { key: SECRET, a: 41 }, caller: OTHER.id });
    expect(own).toMatchObject({ value: { [SECRET]: [`Bearer ${SECRET}`, 1] }, logs: { stdout: SECRET } });
    expect(others).toMatchObject({ value: { '***': ['Bearer ***', 1] }, logs: { stdout: '***', stderr: 'e ***' } });
    expect(JSON.stringify(failed)).not.toContain(SECRET);
    expect(failed).toMatchObject({ failure: { code: 'function_exception_at', values: ["KeyError: '***'", 2] } });
  });

  it('lets nobody but the owner give an init field another value', async () => {
    const { id } = await createWithSecret({ permission_type: 'PUBLIC' });
    sandbox.onRun = () => ({ kind: 'value', value: null });

    await execute(id, { a: 1, key: 'other-key' });
    const others = await execute(id, { a: 1, key: 'other-key' }, OTHER);

    expect(sandbox.runs.map((run) => run.arguments)).toEqual([{ a: 1, key: 'other-key' }]);
    expect(others).toMatchObject({ failure: { code: 'function_parameter_unknown', values: ['key'] } });
  });

  it('R113 runs nothing where a parameter is wrong or the function is not active', async () => {
    const { id } = await create();

    await expect(execute(id, { a: 1 })).rejects.toMatchObject({ code: 'function_inactive' });
    await update(id, { is_active: true });
    expect(await execute(id, {})).toMatchObject({ failure: { code: 'function_parameter_missing', values: ['a'] } });
    expect(await execute(id, { a: 'x' })).toMatchObject({ failure: { code: 'function_parameter_wrong' } });
    expect(await execute(id, { a: 1, b: 2 })).toMatchObject({
      failure: { code: 'function_parameter_unknown', values: ['b'] },
    });
    expect(sandbox.runs).toEqual([]);
  });

  it('R92 debugs what is in the body, by the entry it names, and takes the last of two values', async () => {
    sandbox.onRun = () => ({ kind: 'value', value: 'ok' });
    const body = {
      code: 'def f(n, key): pass',
      entrypoint: 'f',
      input_field_list: [inputField('n', { type: 'int' })],
      debug_field_list: [
        { name: 'n', value: '1' },
        { name: 'n', value: '2' },
        { name: 'unknown', value: 'x' },
      ],
      init_field_list: [KEY_FIELD],
      init_params: { key: SECRET, undeclared: true },
    };

    await debugFunction(service, OWNER, { body, signal });
    await debugFunction(service, OWNER, { body: { code: 'def f(): pass', entrypoint: '' }, signal });

    expect(sandbox.runs[0]).toMatchObject({ entrypoint: 'f', arguments: { n: 2, key: SECRET, undeclared: true } });
    expect(sandbox.runs[1]).toMatchObject({ entrypoint: null, arguments: {} });
    await expect(
      debugFunction(service, OWNER, { body: { ...body, init_params: { key: MASKED } }, signal }),
    ).rejects.toMatchObject({ code: 'function_secret_masked' });
  });

  it('R103 says why nothing ran without a sandbox, and logs neither secrets nor code', async () => {
    const { id } = await createWithSecret();
    sandbox.onRun = () => {
      throw new SandboxError('sandbox_unavailable', 'Start it. docker said: dial unix /run/docker.sock');
    };

    const result = await execute(id, { a: 7 });

    expect(result).toMatchObject({ kind: 'failed', failure: { code: 'sandbox_unavailable', values: [] } });
    expect(logged).toContain('dial unix');
    expect(logged).not.toContain(SECRET);
    expect(logged).not.toContain('def add');
  });

  it('lets through what nobody foresaw', async () => {
    sandbox.onRun = () => {
      throw new TypeError('a fault of ours');
    };

    await expect(debugFunction(service, OWNER, { body: { code: 'def f(): pass' }, signal })).rejects.toThrow(
      'a fault of ours',
    );
  });
});
