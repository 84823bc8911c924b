import { hash } from 'node:crypto';
import type { AbortSignalLike } from '../../../shared/cancellation/signal.ts';
import type { Database } from '../../../shared/db/database.ts';
import { onlyRow, statement } from '../../../shared/db/statement.ts';
import { fail } from '../../../shared/errors/errors.ts';
import type { CallContext } from '../../../shared/rpc/call-context.ts';
import { couponErrors } from '../errors.ts';

const windowMs = 60_000;
const table = 'validate_misses';

/**
 * SQL of a `CallerMisses`, always one row. Its `$key` is JSON that has the `CallerParams`. The `offset 0` keeps the
 * planner from looking for the row among all windows that have not ended.
 */
export const callerMisses = `
  select coalesce(max(points), 0) as misses,
    (max(expire) - ($key->>'nowMs')::bigint)::double precision as "msToWindowEnd"
  from (select points, expire from ${table} where key = $key->>'callerKey' offset 0) as counted
  where expire > ($key->>'nowMs')::bigint`;

export interface CallerMisses {
  misses: number;
  /** Null without misses. */
  msToWindowEnd: number | null;
}

interface CallerParams {
  readonly callerKey: string;
  /** In epoch milliseconds, by the clock of the database, which all replicas share. */
  readonly nowMs: number;
}

/** Limits the coupon codes that a caller may miss within a minute, over all replicas (design 8). */
export class MissLimit {
  readonly #database: Database;
  readonly #missesPerMinute: number;
  /** By caller, the misses of this process that are on their way into the table: no statement reads them yet. */
  readonly #uncounted = new Map<string, number>();
  /** By caller, what its last miss here has brought its count to. The one that was counted longest ago comes first. */
  readonly #counted = new Map<string, { readonly misses: number; readonly atMs: number }>();

  constructor(database: Database, missesPerMinute: number) {
    this.#database = database;
    this.#missesPerMinute = missesPerMinute;
  }

  /** The parameters of `callerMisses` for the caller of a call. */
  paramsOf(call: CallContext): CallerParams {
    // A subject may be longer than a key.
    return { callerKey: hash('sha256', call.identity.subject), nowMs: this.#nowMs() };
  }

  /**
   * Throws RESOURCE_EXHAUSTED TOO_MANY_MISSES if the caller has no miss left. A burst of guesses would read the table
   * before its first miss is counted there, so the misses of this process that a read could not see bound it too: those
   * that are uncounted, and those that were counted after the read had begun.
   */
  requireMissLeft({ callerKey, nowMs }: CallerParams, { misses, msToWindowEnd }: CallerMisses): void {
    const counted = this.#counted.get(callerKey);
    const unseen = counted !== undefined && counted.atMs >= nowMs ? counted.misses : 0;
    if (Math.max(misses, unseen, this.#uncountedOf(callerKey)) < this.#missesPerMinute) return;
    throw tooManyMisses(msToWindowEnd ?? windowMs);
  }

  /**
   * Counts a miss. The count goes on when the call ends early: a caller that gives up what takes longer than a hit
   * would otherwise guess for free.
   *
   * @throws RESOURCE_EXHAUSTED TOO_MANY_MISSES if others have used up the misses meanwhile, and what `Database` throws.
   */
  async count({ callerKey }: CallerParams, call: CallContext): Promise<void> {
    this.#uncounted.set(callerKey, this.#uncountedOf(callerKey) + 1);
    const counted = this.#consume(callerKey, call.subject).finally(() => {
      const left = this.#uncountedOf(callerKey) - 1;
      if (left > 0) this.#uncounted.set(callerKey, left);
      else this.#uncounted.delete(callerKey);
    });
    await untilAborted(counted, call.signal);
  }

  #nowMs(): number {
    return Math.round(this.#database.clock.now());
  }

  #uncountedOf(callerKey: string): number {
    return this.#uncounted.get(callerKey) ?? 0;
  }

  #remember(callerKey: string, misses: number): void {
    const atMs = this.#nowMs();
    for (const [key, counted] of this.#counted) {
      if (counted.atMs > atMs - windowMs) break;
      this.#counted.delete(key);
    }
    this.#counted.delete(callerKey);
    this.#counted.set(callerKey, { misses, atMs });
  }

  async #consume(callerKey: string, subject: string | undefined): Promise<void> {
    // Never aborts: the timeouts of the pool and of statements bound it.
    const db = this.#database.for({ subject, signal: new AbortController().signal });
    const nowMs = this.#nowMs();
    const { misses, msToWindowEnd } = onlyRow(await db.query(countMiss({ callerKey, nowMs })));
    this.#remember(callerKey, misses);
    if (misses > this.#missesPerMinute) throw tooManyMisses(msToWindowEnd);
    if (misses === 1) await db.query(clearExpiredMisses({ nowMs }));
  }
}

const tooManyMisses = (retryAfterMs: number) => fail(couponErrors.tooManyMisses, { retryAfterMs });

/** Settles as the work does, or rejects when the signal aborts. The work goes on then. */
function untilAborted<Result>(work: Promise<Result>, signal: AbortSignalLike): Promise<Result> {
  return new Promise((resolve, reject) => {
    work.then(resolve, reject);
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason));
  });
}

const countMiss = statement<{ misses: number; msToWindowEnd: number }, CallerParams>(
  'countMiss',
  `insert into ${table} as counted (key, points, expire) values ($callerKey, 1, $nowMs::bigint + ${windowMs})
   on conflict (key) do update set
     points = case when counted.expire <= $nowMs::bigint then 1 else counted.points + 1 end,
     expire = case when counted.expire <= $nowMs::bigint then excluded.expire else counted.expire end
   returning points as misses, (expire - $nowMs::bigint)::double precision as "msToWindowEnd"`,
);

// Each new row removes some old ones, so that the table does not grow.
const clearExpiredMisses = statement<never, { nowMs: number }>(
  'clearExpiredMisses',
  `delete from ${table} where key in (
     select key from ${table} where expire < $nowMs::bigint
     order by expire limit 10 for update skip locked
   )`,
);
