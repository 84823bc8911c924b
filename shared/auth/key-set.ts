import {
  type CryptoKey,
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  errors,
  type FetchImplementation,
} from 'jose';
import type { Logger } from 'pino';

/** The intervals of a key set, in milliseconds. */
export interface KeySetTimes {
  /** From one fetch to the next. */
  readonly refreshMs: number;
  /** How long after a fetch an unknown key does not cause another one. */
  readonly unknownKeyMs: number;
  /** How long a fetch may take. */
  readonly timeoutMs: number;
  /** How long the keys stay valid after the last successful fetch. */
  readonly serveOnMs: number;
}

/** The intervals in production; tests use shorter ones. */
export const keySetTimes: KeySetTimes = {
  refreshMs: 30_000,
  unknownKeyMs: 5_000,
  timeoutMs: 5_000,
  serveOnMs: 24 * 60 * 60 * 1000,
};

const maxBytes = 1024 * 1024;

/**
 * The keys at AUTH_JWKS_URL (design 8), held by jose. They are fetched every 30 s, so that a key removed from the set
 * is gone within 60 s, and whenever a token names an unknown key. If fetches fail, the last keys stay valid for a day.
 */
export class KeySet implements Keys {
  readonly algorithms = ['RS256', 'ES256', 'EdDSA'];
  readonly #set: ReturnType<typeof createRemoteJWKSet>;
  readonly #logger: Logger;
  readonly #unknownKeyMs: number;
  readonly #timer: NodeJS.Timeout;
  readonly #closed = new AbortController();
  #text = '';
  #version = 0;
  #mayLookAtMs = 0;
  #failed: { readonly error: unknown; readonly atMs: number } | undefined;

  /** Starts the first fetch, so that a wrong URL shows up in the log before the first call. */
  constructor(url: URL, logger: Logger, times = keySetTimes) {
    this.#logger = logger;
    this.#unknownKeyMs = times.unknownKeyMs;
    this.#set = createRemoteJWKSet(url, {
      cacheMaxAge: times.serveOnMs,
      // jose counts its cooldown from the last refresh, which would reject the first token of a new key.
      cooldownDuration: Number.POSITIVE_INFINITY,
      timeoutDuration: times.timeoutMs,
      [customFetch]: (...request) => this.#fetch(...request),
    });
    // `#fetch` has already logged the failure.
    const refresh = () => this.#set.reload().catch(() => undefined);
    void refresh();
    this.#timer = setInterval(refresh, times.refreshMs).unref();
  }

  get version(): number | undefined {
    return this.#set.fresh ? this.#version : undefined;
  }

  async find(alg: string, kid: string | undefined): Promise<readonly CryptoKey[]> {
    try {
      const found = await this.#select(alg, kid);
      if (found.length > 0 || performance.now() < this.#mayLookAtMs) return found;
      await this.#set.reload();
      this.#mayLookAtMs = performance.now() + this.#unknownKeyMs;
      return await this.#select(alg, kid);
    } catch (error) {
      throw new KeysUnavailableError('the key set could not be fetched', { cause: error });
    }
  }

  async #select(alg: string, kid: string | undefined): Promise<readonly CryptoKey[]> {
    const found: CryptoKey[] = [];
    try {
      found.push(await this.#set({ alg, ...(kid === undefined ? {} : { kid }) }));
    } catch (error) {
      // A token without a kid may be signed by any key of its algorithm.
      if (error instanceof errors.JWKSMultipleMatchingKeys) for await (const key of error) found.push(key);
      else if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
    }
    return found.filter((key) => !isWeak(key));
  }

  /** Stops the periodic fetches and aborts the current one. */
  close(): void {
    clearInterval(this.#timer);
    this.#closed.abort();
  }

  /**
   * Fetches the set for jose. After a failure it fails fast for a while, so that invalid tokens can't
   * flood a provider that is down.
   */
  async #fetch(...[url, options]: Parameters<FetchImplementation>): Promise<Response> {
    if (this.#failed !== undefined && performance.now() - this.#failed.atMs < this.#unknownKeyMs)
      throw this.#failed.error;
    try {
      const signal = AbortSignal.any([options.signal, this.#closed.signal]);
      const text = await readText(await fetch(url, { ...options, signal }));
      const { keys } = createLocalJWKSet(JSON.parse(text)).jwks();
      if (text !== this.#text || this.#failed !== undefined) {
        this.#version += 1;
        this.#logger.info({ kids: keys.map(({ kid }) => kid) }, 'the key set was fetched');
      }
      this.#text = text;
      this.#failed = undefined;
      return new Response(text);
    } catch (error) {
      this.#failed = { error, atMs: performance.now() };
      const consequence = this.#set.fresh ? 'the keys known so far serve on' : 'no token can be verified';
      if (!this.#closed.signal.aborted) {
        this.#logger.warn({ err: error }, `the key set could not be fetched: ${consequence}`);
      }
      throw error;
    }
  }
}

async function readText(response: Response): Promise<string> {
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`the key set was answered with status ${response.status}`);
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error(`the key set is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Whether an RSA key is too short for jose: under 2,048 bits (RFC 7518, 3.3). */
function isWeak({ algorithm }: CryptoKey): boolean {
  return 'modulusLength' in algorithm && Number(algorithm.modulusLength) < 2_048;
}

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
