import type { CryptoKey } from 'jose';

/** The keys that verify tokens. */
export interface Keys {
  /** The permitted algorithms. They follow from the kind of keys, never from the token. */
  readonly algorithms: readonly string[];
  /**
   * Changes with the keys; undefined while no keys are known. Tokens verified under another
   * version need verifying again.
   */
  readonly version: number | undefined;
  /**
   * Resolves with the keys that may have signed a token with this header; empty if there is none. Rejects with a
   * `KeysUnavailableError` if the keys can't be fetched.
   */
  find(algorithm: string, kid: string | undefined): Promise<readonly CryptoKey[]>;
  close(): void;
}

/** Thrown when a key is looked up while the keys can't be fetched. */
export class KeysUnavailableError extends Error {}

/** Imports the secrets of AUTH_JWT_SECRET. Any of them may have signed a token. */
export async function importSecrets(secrets: readonly string[]): Promise<Keys> {
  // Imported once, because jose would import raw bytes again for each token.
  const importSecret = (secret: string) =>
    crypto.subtle.importKey('raw', Buffer.from(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
  const keys = await Promise.all(secrets.map(importSecret));
  return { algorithms: ['HS256'], version: 0, find: async () => keys, close: () => undefined };
}
