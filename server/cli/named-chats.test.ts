import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NamedChats, parseChatName } from './named-chats.ts';

describe('NamedChats', () => {
  let folder: string;
  let chats: NamedChats;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'knowhy-names-'));
    chats = new NamedChats(folder);
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('finds what was named, in its application alone', async () => {
    expect(await chats.find('app', '报销')).toBeNull();

    await chats.set('app', '报销', 'chat-1');
    await chats.set('other', '报销', 'chat-2');
    await chats.set('app', '../../etc', 'chat-3');

    expect(await chats.find('app', '报销')).toBe('chat-1');
    expect(await chats.find('other', '报销')).toBe('chat-2');
    expect(await chats.find('app', '../../etc')).toBe('chat-3');
    expect(await readdir(folder)).toEqual(['chats']);
  });

  it('gives a name to another conversation, and takes a broken file for a free name', async () => {
    await chats.set('app', 'a', 'chat-1');
    await chats.set('app', 'a', 'chat-2');
    expect(await chats.find('app', 'a')).toBe('chat-2');

    const [file] = await readdir(join(folder, 'chats'));
    await writeFile(join(folder, 'chats', file ?? ''), '{"na');
    expect(await chats.find('app', 'a')).toBeNull();
  });

  it.each(['a\nb', 'a\u001b[31mb', 'a\u202eb'])('refuses the name %j', (name) => {
    expect(() => parseChatName(name)).toThrow('no line breaks');
  });

  it('refuses a blank and an endless name', () => {
    expect(parseChatName(' a b ')).toBe('a b');
    expect(() => parseChatName(' ')).toThrow('--chat needs a name');
    expect(() => parseChatName('a'.repeat(201))).toThrow('at most 200');
  });
});
