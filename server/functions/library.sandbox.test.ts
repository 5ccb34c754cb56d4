import { afterAll, beforeAll, expect, it } from 'vitest';
import { functionAnswer, functionLib } from '../../contract/functions.ts';
import { createLog } from '../observability/log.ts';
import { type AskApp, functionPorts, startAskApp } from '../testing/ask-app.ts';
import { describeOnPGlite } from '../testing/databases.ts';
import { functionBody, inputField } from '../testing/functions.ts';
import { describeWithEngine, openSandbox } from '../testing/python-sandbox.ts';

const CODE = `import asyncio
SCALE = 2

def scaled(value, factor):
    return value * factor * SCALE

async def area(name, count, ratio, tags, options=None, factor=1):
    print("computing", name)
    await asyncio.sleep(0)
    if count < 0:
        raise ValueError("count is negative")
    return {"name": name, "area": scaled(count, factor) + ratio, "tags": tags, "options": options}
`;

describeWithEngine('R119 the function library from HTTP to Python', () => {
  describeOnPGlite('with an embedded database', (open) => {
    const sandbox = openSandbox();
    let ask: AskApp;

    beforeAll(async () => {
      const database = await open();
      const log = createLog('silent');
      const { signal } = new AbortController();
      ask = await startAskApp(database, {
        deps: { functions: functionPorts(database, { sandbox, log, shutdown: signal }) },
      });
    });
    afterAll(async () => {
      await ask.close();
      await sandbox.close();
    });

    async function send(method: string, path: string, body: object) {
      const headers = { 'content-type': 'application/json', 'accept-language': 'en-US' };
      const response = await ask.call(`/api/function_lib${path}`, { method, headers, body: JSON.stringify(body) });
      return (await response.json()) as { data: unknown };
    }

    it('R87 R111 R114 creates, switches on and executes, and gives the value with what was printed', async () => {
      const created = await send('POST', '', {
        ...functionBody({ code: CODE }),
        input_field_list: [
          inputField('name'),
          inputField('count', { type: 'int' }),
          inputField('ratio', { type: 'float' }),
          inputField('tags', { type: 'array' }),
          inputField('options', { type: 'dict', is_required: false }),
        ],
        init_field_list: [{ field: 'factor', input_type: 'Slider' }],
      });
      const { id } = functionLib.parse(created.data);
      await send('PUT', `/${id}`, { is_active: true, init_params: { factor: 3 } });
      const params = { name: '圆', count: '7', ratio: '0.5', tags: '["a", 1]' };

      const answer = functionAnswer.parse(await send('POST', `/${id}/execute`, { params }));
      const failed = functionAnswer.parse(await send('POST', `/${id}/execute`, { params: { ...params, count: -1 } }));

      expect(answer).toMatchObject({
        code: 200,
        data: { name: '圆', area: 42.5, tags: ['a', 1], options: null },
        logs: { stdout: 'computing 圆\n', stderr: '' },
        error: null,
      });
      expect(failed).toMatchObject({ code: 500, data: null, error: { type: 'ValueError', line: 11 } });
      expect(failed.message).toBe('The function raised an exception on line 11: ValueError: count is negative');
      expect(failed.error?.traceback).toContain('line 11, in area');
    });

    it('R92 debugs a helper by name, and points at a syntax error', async () => {
      const debug = {
        code: CODE,
        entrypoint: 'scaled',
        input_field_list: [inputField('value', { type: 'int' }), inputField('factor', { type: 'int' })],
        debug_field_list: [
          { name: 'value', value: '2' },
          { name: 'factor', value: '5' },
        ],
      };

      expect(await send('POST', '/debug', debug)).toMatchObject({ code: 200, data: 20 });
      expect(await send('POST', '/debug', { ...debug, entrypoint: 'missing' })).toMatchObject({
        code: 500,
        message: 'The code defines no function named "missing".',
      });
      expect(await send('POST', '/pylint', { code: 'def f(:\n    pass' })).toMatchObject({
        data: [{ line: 1, column: 6, type: 'error' }],
      });
      expect(await send('POST', '/pylint', { code: CODE })).toMatchObject({ code: 200, data: [] });
    });
  });
});
