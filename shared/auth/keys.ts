import type { CryptoKey } from 'jose';

/** The keys that sign tokens. */
export interface Keys {
  /** The algorithms that tokens may have. The kind of keys decides that, never the token. */
  readonly algorithms: readonly string[];
  /** Another one whenever the keys have changed; undefined while none are known. A token of other keys has to be verified again. */
  readonly version: number | undefined;
  /**
   * Resolves with the keys that may have signed a token with this header: none, if there is no such key. Rejects with a
   * `KeysUnavailableError` if nobody can tell.
   */
  find(algorithm: string, kid: string | undefined): Promise<readonly CryptoKey[]>;
  close(): void;
}

/** The error of looking for a key while the keys can't be fetched. */
export class KeysUnavailableError extends Error {}

/** Imports the secrets of AUTH_JWT_SECRET. Any of them may have signed a token. */
export async function importSecrets(secrets: readonly string[]): Promise<Keys> {
  // Imported once, because jose would import raw bytes again for each token.
  const importSecret = (secret: string) =>
    crypto.subtle.importKey('raw', Buffer.from(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
  const keys = await Promise.all(secrets.map(importSecret));
  return { algorithms: ['HS256'], version: 0, find: async () => keys, close: () => undefined };
}
