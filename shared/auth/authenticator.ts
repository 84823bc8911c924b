import { errors } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { DatabaseClock } from '../clock/clock.ts';
import type { AuthConfig } from '../config/auth.ts';
import type { Caller } from '../db/caller.ts';
import type { Database } from '../db/database.ts';
import { isInt32 } from '../db/int32.ts';
import { statement } from '../db/statement.ts';
import { commonErrors, fail } from '../errors/errors.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { importSecrets, KeySet, type KeySetTimes, type Keys } from './key-set.ts';
import { type Claims, createTokenVerifier, leewayMs, maxTokenLength, type TokenVerifier } from './token.ts';

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
  /**
   * The token's `staff_id`, which is only a claim: `staffId` checks that the staff user exists. Of a token without it, the
   * id of the staff user whom it names by `staffExternalId`, as far as it is known.
   */
  readonly claimedStaffId: number | undefined;
  /** The external id of the staff user whom a token without `staff_id` names (design 14). */
  readonly staffExternalId?: string | undefined;
  /** Resolves with the staff id, or undefined if the token has none or the staff user does not exist or is disabled. */
  staffId(caller: Caller): Promise<number | undefined>;
}

/** Identifies callers by the value of their `authorization` header (spec 5). */
export interface Authenticator {
  /**
   * Resolves with the identity of the token, which is the same object as long as the token is known. Rejects with
   * UNAUTHENTICATED `Authentication required` if the header is missing or its token is not valid, and with UNAVAILABLE
   * `IDENTITY_PROVIDER_UNAVAILABLE` if its key is not known and the key set can't be fetched.
   */
  authenticate(authorization: string | undefined): Promise<Identity>;
  /** Returns the identity of a token that was verified before and is still valid; else undefined. Never throws. */
  known(authorization: string | undefined): Identity | undefined;
}

/** The dependencies of an authenticator. */
export interface AuthenticatorOptions {
  readonly config: AuthConfig;
  readonly database: Database;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly times?: KeySetTimes | undefined;
}

const scheme = 'Bearer ';
const bearer = /^Bearer ([^\s,]+)$/;
const maxHeaderLength = maxTokenLength + scheme.length;

// The TTL counts from the start of the query. A disabled staff user loses access on every
// replica within 30 s (design 8).
const cacheTtlMs = 28_000;

const staffUserExists = statement<{ id: number }, { id: number | undefined; externalId: string | undefined }>(
  'staffUserExists',
  `select id from staff_users where id = $id::integer and disabled_at is null
   union all select id from staff_users where external_id = $externalId::text and disabled_at is null`,
);

/**
 * Creates the authenticator of a service. `close` ends its fetches of the key set. A staff user that exists is cached
 * for 28 s; an absent one is never cached.
 */
export async function openAuthenticator(options: AuthenticatorOptions): Promise<Authenticator & { close(): void }> {
  const { config, database, metrics } = options;
  /** The ids of staff users that are known to exist, by their ids or external ids. */
  const knownStaff = new LRUCache<number | string, number>({ max: 10_000, ttl: cacheTtlMs });
  metrics.gauge('staff_users_cached', 'Staff users that are known to exist.', () => knownStaff.size);

  async function findStaffUser(name: number | string, caller: Caller): Promise<number | undefined> {
    const start = performance.now();
    const named = typeof name === 'number' ? { id: name, externalId: undefined } : { id: undefined, externalId: name };
    const [found] = await database.for(caller).query(staffUserExists(named));
    if (found !== undefined) knownStaff.set(name, found.id, { start });
    return found?.id;
  }

  const identityOf = ({ subject, staffId, staffExternalId }: Claims): Identity => {
    const name = staffId ?? staffExternalId;
    return {
      subject,
      staffExternalId,
      get claimedStaffId() {
        return staffId ?? (staffExternalId === undefined ? undefined : knownStaff.get(staffExternalId));
      },
      async staffId(caller) {
        if (name === undefined || (typeof name === 'number' && !isInt32(name))) return undefined;
        return knownStaff.get(name) ?? findStaffUser(name, caller);
      },
    };
  };

  const keys = await openKeys(options);
  const verify = createTokenVerifier(config, keys, database.clock);
  const tokens = new VerifiedTokens(
    keys,
    database.clock,
    async (authorization) => {
      if (authorization === '') throw fail(commonErrors.authenticationRequired);
      const token = authorization.length > maxHeaderLength ? undefined : bearer.exec(authorization)?.[1];
      if (token !== undefined) return verify(token);
      throw fail(commonErrors.authenticationRequired, {
        cause: new errors.JWTInvalid('the header is no "Bearer <token>"'),
      });
    },
    identityOf,
  );
  metrics.gauge('verified_tokens_cached', 'Tokens whose signature is known to be good.', () => tokens.size);

  return {
    async authenticate(authorization) {
      const header = canonical(authorization);
      return tokens.known(header) ?? tokens.verify(header);
    },
    known: (authorization) => tokens.known(canonical(authorization)),
    close: () => keys.close(),
  };
}

/**
 * Normalises the case of the scheme, so that each token has one cache key. The key is the whole header, because
 * extracting the token costs more than the cache lookup.
 */
function canonical(authorization = ''): string {
  return authorization.startsWith(scheme) ? authorization : authorization.replace(/^bearer /i, scheme);
}

async function openKeys({ config, logger, times }: AuthenticatorOptions): Promise<Keys> {
  return config.kind === 'secret' ? importSecrets(config.secrets) : new KeySet(config.url, logger, times);
}
