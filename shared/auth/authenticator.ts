import { LRUCache } from 'lru-cache';
import type { AbortSignalLike } from '../cancellation/signal.ts';
import type { Database } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import { commonErrors, fail } from '../errors/errors.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Identity } from './identity.ts';
import type { Claims, TokenVerifier } from './token.ts';

/** Reads an `authorization` header; throws UNAUTHENTICATED `Authentication required`. */
export type Authenticator = (authorization: string | undefined) => Identity | Promise<Identity>;

const bearer = /^bearer +([^\s,]+) *$/i;
const largestInt32 = 2 ** 31 - 1;

// From the look on. One that is disabled counts as none, on every replica within 30 s (design 8).
const rememberedMs = 28_000;

const staffUserExists = statement<{ id: number }, { id: number }>(
  'staffUserExists',
  'select id from staff_users where id = $id and disabled_at is null',
);

/**
 * Makes the function that tells who calls (spec 5). That a staff user exists is remembered for a
 * while; that one does not is never remembered.
 */
export function createAuthenticator(verify: TokenVerifier, database: Database, metrics: Metrics): Authenticator {
  const knownStaff = new LRUCache<number, true>({ max: 10_000, ttl: rememberedMs });
  metrics.gauge({ name: 'staff_users_cached', help: 'Staff users that are known to exist.' }, () => knownStaff.size);

  async function findStaff(claimed: number, signal: AbortSignalLike): Promise<number | undefined> {
    const start = performance.now();
    const [found] = await database.withSignal(signal).query(staffUserExists({ id: claimed }));
    if (found === undefined) return undefined;
    knownStaff.set(claimed, true, { start });
    return claimed;
  }

  const identityOf = ({ subject, staffId }: Claims): Identity => ({
    subject,
    claimedStaffId: staffId,
    staffId(openSignal) {
      if (staffId === undefined || Math.abs(staffId) > largestInt32) return undefined;
      return knownStaff.has(staffId) ? staffId : findStaff(staffId, openSignal());
    },
  });

  return (authorization) => {
    const token = bearer.exec(authorization ?? '')?.[1];
    if (token === undefined) throw fail(commonErrors.authenticationRequired);
    const claims = verify(token);
    return claims instanceof Promise ? claims.then(identityOf) : identityOf(claims);
  };
}
