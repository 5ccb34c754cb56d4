import { z } from 'zod';
import type { Language } from './messages.ts';
import { Refusal } from './refusal.ts';

const LOCALES = { 'zh-CN': z.locales.zhCN().localeError, 'en-US': z.locales.en().localeError };

/** Checks what a client sent. Throws a Refusal that names the first wrong field, in the reader's language. */
export function parseRequest<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  language: Language,
): z.infer<Schema> {
  const result = schema.safeParse(value, { error: LOCALES[language] });
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw new Refusal('invalid_field', [issue?.path.join('.') || 'body', issue?.message ?? '']);
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** True for an id that a uuid column accepts as it stands; any other id is simply unknown. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** Pages count from 1; `size` is at most 100 rows. The route lets only digits through. */
export const pagePath = z.object({
  page: z.coerce.number().int().min(1).max(1_000_000),
  size: z.coerce.number().int().min(1).max(100),
});
