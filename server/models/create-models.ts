import type { Config } from '../config.ts';
import type { Database } from '../database/database.ts';
import { CachedEmbedder } from './cached-embedder.ts';
import type { ChatModel, Embedder } from './chat-model.ts';
import { EmbeddingCacheStore } from './embedding-cache-store.ts';
import type { ContentWords } from './offline/coverage.ts';
import { OfflineChatModel } from './offline/offline-chat-model.ts';
import { RemoteEmbedder } from './remote-embedder.ts';
import { UniChatClient } from './uni-chat-client.ts';

/** The models a configuration names. `embedder` null: search is by keywords only (R2). */
export interface Models {
  answer: ChatModel;
  /** Rewrites, verifies and summarises; the answering model unless `kb.aux.model` names another. */
  auxiliary: ChatModel;
  embedder: Embedder | null;
}

/** With nothing configured: the offline model and no vectors (R2). Opens no connection. */
export function createModels(
  config: Pick<Config, 'chat' | 'auxModel' | 'embedding'>,
  ports: { database: Database; contentWords: ContentWords },
): Models {
  const answer = chatModel(config, config.chat.model, ports.contentWords);
  const auxiliary = config.auxModel === null ? answer : chatModel(config, config.auxModel, ports.contentWords);
  return { answer, auxiliary, embedder: embedderOf(config, ports.database) };
}

function chatModel({ chat }: Pick<Config, 'chat'>, model: string | null, contentWords: ContentWords): ChatModel {
  if (chat.baseUrl === null || model === null) return new OfflineChatModel(contentWords);
  return new UniChatClient({ baseUrl: chat.baseUrl, apiKey: chat.apiKey, model });
}

function embedderOf({ embedding }: Pick<Config, 'embedding'>, database: Database): Embedder | null {
  const { baseUrl, apiKey, model, dimensions } = embedding;
  if (baseUrl === null || model === null) return null;
  const wanted = dimensions === null ? {} : { dimensions };
  const inner = new RemoteEmbedder({ baseUrl, apiKey, model, ...wanted });
  return new CachedEmbedder({ inner, cache: new EmbeddingCacheStore(database), ...wanted });
}
