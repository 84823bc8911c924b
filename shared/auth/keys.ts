import type { CryptoKey } from 'jose';

/** A key that verifies signatures of one algorithm. */
export interface VerificationKey {
  readonly algorithm: string;
  /** Undefined: a token can't name it. */
  readonly kid: string | undefined;
  /** Differs between any two keys, also if they have the same `kid`. */
  readonly fingerprint: string;
  readonly cryptoKey: CryptoKey;
}

/** Whether a key is an RSA key that is too short for jose to verify with: under 2,048 bits (RFC 7518, 3.3). */
export function isWeak({ cryptoKey: { algorithm } }: VerificationKey): boolean {
  return 'modulusLength' in algorithm && Number(algorithm.modulusLength) < 2_048;
}

/** The keys that sign tokens. */
export interface Keys {
  /** The algorithms that tokens may have. The kind of keys decides that, never the token. */
  readonly algorithms: readonly string[];
  /**
   * Resolves with the keys that may have signed a token with this header: none, if there is no such key. Rejects with a
   * `KeysUnavailableError` if nobody can tell.
   */
  find(algorithm: string, kid: string | undefined): Promise<readonly VerificationKey[]>;
  /** Whether the key still signs tokens. */
  has(key: VerificationKey): boolean;
  close(): void;
}

/** The error of looking for a key while the keys can't be fetched. */
export class KeysUnavailableError extends Error {}

/** Imports the secrets of AUTH_JWT_SECRET. Any of them may have signed a token. */
export async function importSecrets(secrets: readonly string[]): Promise<Keys> {
  // Imported once, because jose would import raw bytes again for each token.
  const importSecret = (secret: string) =>
    crypto.subtle.importKey('raw', Buffer.from(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
  const keys = await Promise.all(
    secrets.map(async (secret, index) => ({
      algorithm: 'HS256',
      kid: undefined,
      fingerprint: `secret ${index}`,
      cryptoKey: await importSecret(secret),
    })),
  );
  return { algorithms: ['HS256'], find: async () => keys, has: () => true, close: () => undefined };
}
