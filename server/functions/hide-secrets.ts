import type { JsonValue } from './python-sandbox.ts';

const HIDDEN = '***';

/** The text without the secrets. `secrets`: longest first, none empty. */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, HIDDEN), text);
}

/** The value without the secrets, in texts and in keys. `value`: at most a hundred levels, as the sandbox gives it. */
export function hideSecretsIn(value: JsonValue, secrets: readonly string[]): JsonValue {
  if (secrets.length === 0) return value;
  if (typeof value === 'string') return hideSecrets(value, secrets);
  if (Array.isArray(value)) return value.map((item) => hideSecretsIn(item, secrets));
  if (typeof value !== 'object' || value === null) return value;
  // Object.fromEntries defines properties, so that `__proto__` stays a key like any other.
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [hideSecrets(key, secrets), hideSecretsIn(item, secrets)]),
  );
}
