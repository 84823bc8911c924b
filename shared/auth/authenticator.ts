import { LRUCache } from 'lru-cache';
import type { Database } from '../db/database.ts';
import { maxInt32 } from '../db/int32.ts';
import { statement } from '../db/statement.ts';
import { commonErrors, fail } from '../errors/errors.ts';
import type { Caller } from '../fairness/caller.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Identity } from './identity.ts';
import type { Claims, TokenVerifier } from './token.ts';

/**
 * Resolves with the identity of an `authorization` header's value. Rejects with UNAUTHENTICATED `Authentication
 * required` if the header is missing or its token is not valid.
 */
export type Authenticator = (authorization: string | undefined) => Promise<Identity>;

const bearer = /^bearer +([^\s,]+) *$/i;

// Counted from the start of the query. A staff user who is disabled loses access on every replica within 30 s (design 8).
const cacheTtlMs = 28_000;

const staffUserExists = statement<{ id: number }, { id: number }>(
  'staffUserExists',
  'select id from staff_users where id = $id and disabled_at is null',
);

/**
 * Creates the function that identifies callers (spec 5). A staff user who exists is cached for 28 s; one who does not
 * exist is never cached.
 */
export function createAuthenticator(verify: TokenVerifier, database: Database, metrics: Metrics): Authenticator {
  const knownStaff = new LRUCache<number, true>({ max: 10_000, ttl: cacheTtlMs });
  metrics.gauge({ name: 'staff_users_cached', help: 'Staff users that are known to exist.' }, () => knownStaff.size);

  async function findStaffUser(id: number, caller: Caller): Promise<number | undefined> {
    const start = performance.now();
    const [found] = await database.for(caller).query(staffUserExists({ id }));
    if (found === undefined) return undefined;
    knownStaff.set(id, true, { start });
    return id;
  }

  const identityOf = ({ subject, staffId }: Claims): Identity => ({
    subject,
    claimedStaffId: staffId,
    async staffId(caller) {
      if (staffId === undefined || Math.abs(staffId) > maxInt32) return undefined;
      return knownStaff.has(staffId) ? staffId : findStaffUser(staffId, caller);
    },
  });

  return async (authorization) => {
    const token = bearer.exec(authorization ?? '')?.[1];
    if (token === undefined) throw fail(commonErrors.authenticationRequired);
    return identityOf(await verify(token));
  };
}
