import { afterEach, describe, expect, it } from 'vitest';
import { CachedEmbedder, type EmbeddingCache } from '../models/cached-embedder.ts';
import { RemoteEmbedder } from '../models/remote-embedder.ts';
import { UniChatClient } from '../models/uni-chat-client.ts';
import { pythonConfig } from '../testing/python-sandbox.ts';
import { type ScriptedModelServer, startScriptedModelServer } from '../testing/scripted-model-server.ts';
import { refuseField, reply } from '../testing/scripted-steps.ts';
import { checkModels, type Finding, judgeDatabase, judgeSandbox } from './doctor.ts';

const servers: ScriptedModelServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

/** A doctor that asks the cache would neither fail here nor find a dead service. */
const fullCache: EmbeddingCache = {
  get: async (_model, hashes) => new Map(hashes.map((hash) => [hash, [1, 0]])),
  put: async () => {
    throw new Error('The doctor wrote into the cache.');
  },
};

async function check() {
  const server = await startScriptedModelServer({
    chat: [refuseField('response_format'), reply('pong'), reply('{"reply": "pong"}')],
    embeddings: { step: (request) => ('encoding_format' in request.body ? refuseField('encoding_format') : undefined) },
  });
  servers.push(server);
  const options = { baseUrl: server.baseUrl, apiKey: '' };
  const chat = new UniChatClient({ ...options, model: 'scripted' });
  const embedder = new CachedEmbedder({
    inner: new RemoteEmbedder({ ...options, model: 'vectors' }),
    cache: fullCache,
  });
  const findings: Finding[] = [];
  await checkModels({ answer: chat, auxiliary: chat, embedder }, (finding) => findings.push(finding));
  return { server, findings };
}

describe('checkModels', () => {
  it('R18 reports the fields that the chat service refuses, also of a request for JSON', async () => {
    const { findings } = await check();

    expect(findings[0]).toEqual({
      kind: 'ok',
      text: 'model scripted: answers (stop); the provider refuses response_format',
    });
  });

  it('asks the embedding service itself, with the same text every time, and reports what it refuses', async () => {
    const first = await check();
    const second = await check();

    const inputs = [first, second].map(({ server }) => server.requests.at(-1)?.body['input']);
    expect(first.findings[1]).toEqual({
      kind: 'ok',
      text: 'embedding model vectors: 64 dimensions; the provider refuses encoding_format',
    });
    expect(inputs[0]).toEqual(inputs[1]);
  });
});

describe('judgeDatabase', () => {
  it.each([
    ['0.8.0', 'ok'],
    ['0.8.1', 'ok'],
    ['0.10.0', 'ok'],
    ['1.0', 'ok'],
    ['0.7.4', 'wrong'],
    ['0.5.1', 'wrong'],
    [null, 'wrong'],
  ] as const)('finds pgvector %s %s', (vectorVersion, kind) => {
    expect(judgeDatabase('postgresql', { serverVersion: '16.4', vectorVersion }).kind).toBe(kind);
  });
});

describe('judgeSandbox', () => {
  const ready = {
    kind: 'ready',
    engine: 'docker',
    engineVersion: '28.2',
    image: 'i',
    pythonVersion: '3.13',
    idle: 0,
    running: 0,
    waiting: 0,
  } as const;
  const failed = (code: string) => ({ kind: 'unavailable', code, message: 'Start it.' }) as const;
  const bare = pythonConfig({ dockerHost: null, image: 'knowhy-python:local' });

  it('says what functions run in, with what cannot be checked', () => {
    expect(judgeSandbox({ ...ready, notes: ['runtime runsc: no seccomp filter'] }, bare)).toEqual([
      { kind: 'ok', text: 'python functions: docker 28.2, i with Python 3.13, every wall and limit read back' },
      { kind: 'note', text: 'python functions: runtime runsc: no seccomp filter' },
    ]);
  });

  it('R103 takes a missing engine for a fault where one is configured', () => {
    expect(judgeSandbox(failed('sandbox_unavailable'), bare)).toEqual([
      { kind: 'note', text: 'python functions: Start it.' },
    ]);
    expect(judgeSandbox(failed('sandbox_unavailable'), { ...bare, wslDistribution: 'Ubuntu' })[0]?.kind).toBe('wrong');
    expect(judgeSandbox(failed('sandbox_unsafe'), bare)[0]?.kind).toBe('wrong');
  });
});
