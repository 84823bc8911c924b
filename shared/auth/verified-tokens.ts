import { LRUCache } from 'lru-cache';
import type { DatabaseClock } from '../clock/clock.ts';
import type { Caller } from '../db/caller.ts';
import type { Keys } from './keys.ts';
import { type Claims, leewayMs, type TokenVerifier } from './token.ts';

const maxTokens = 10_000;

/** Caches identities by `authorization` header. An entry is valid until its token expires or the keys change. */
export class VerifiedTokens {
  readonly #keys: Keys;
  readonly #clock: DatabaseClock;
  readonly #verify: TokenVerifier;
  readonly #identityOf: (claims: Claims) => Identity;
  readonly #verified = new LRUCache<string, { identity: Identity; version: number | undefined }>({
    max: maxTokens,
    ttl: 1,
    ttlResolution: 0,
  });
  readonly #running = new Map<string, Promise<Identity>>();

  constructor(keys: Keys, clock: DatabaseClock, verify: TokenVerifier, identityOf: (claims: Claims) => Identity) {
    this.#keys = keys;
    this.#clock = clock;
    this.#verify = verify;
    this.#identityOf = identityOf;
  }

  /** The number of unexpired tokens. */
  get size(): number {
    this.#verified.purgeStale();
    return this.#verified.size;
  }

  /** Returns the identity of a verified token; undefined if it was not verified before, or is no longer valid. */
  known(authorization: string): Identity | undefined {
    const verified = this.#verified.get(authorization);
    return verified?.version === this.#keys.version ? verified?.identity : undefined;
  }

  /**
   * Verifies a token. Concurrent calls with the same token share one verification. Rejects as the `TokenVerifier` does.
   */
  verify(authorization: string): Promise<Identity> {
    const running = this.#running.get(authorization) ?? this.#start(authorization);
    this.#running.set(authorization, running);
    return running;
  }

  async #start(authorization: string): Promise<Identity> {
    try {
      const before = this.#keys.version;
      const claims = await this.#verify(authorization);
      const identity = this.#identityOf(claims);
      const expiresInMs = claims.expiresAt + leewayMs - this.#clock.now();
      const { version } = this.#keys;
      // Keys that changed during the verification may not accept the token any more. Without previous keys, this
      // token caused the first fetch.
      const isCurrent = before === undefined || before === version;
      if (expiresInMs > 0 && isCurrent)
        this.#verified.set(authorization, { identity, version }, { ttl: Math.ceil(expiresInMs) });
      return identity;
    } finally {
      this.#running.delete(authorization);
    }
  }
}

/** The caller that a verified token names (spec 5, design 1). */
export interface Identity {
  readonly subject: string;
  /** The token's `staff_id`. It is only a claim: `staffId` checks that the staff user exists. */
  readonly claimedStaffId: number | undefined;
  /** Resolves with the staff id, or undefined if the token has none or the staff user does not exist or is disabled. */
  staffId(caller: Caller): Promise<number | undefined>;
}
