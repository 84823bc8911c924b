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
 * SQL of a `CallerMisses`, always exactly one row, with the `CallerParams`. `offset 0` keeps the planner from searching
 * all unexpired windows for the row.
 */
export const callerMisses = `
  select coalesce(max(points), 0) as misses, (max(expire) - $nowMs::bigint)::double precision as "msToWindowEnd"
  from (select points, expire from ${table} where key = $callerKey offset 0) as counted
  where expire > $nowMs::bigint`;

export interface CallerMisses {
  misses: number;
  /** In milliseconds; null without misses. */
  msToWindowEnd: number | null;
}

export interface CallerParams {
  /** A hash, because a subject may be longer than a key may be. */
  readonly callerKey: string;
  /** Epoch milliseconds by the database's clock, which all replicas share. */
  readonly nowMs: number;
}

/**
 * Limits how many coupon codes a caller may miss within a minute, over all replicas (design 8). A burst may exceed the
 * limit by the calls that execute at once.
 */
export class MissLimit {
  readonly #database: Database;
  readonly #missesPerMinute: number;

  constructor(database: Database, missesPerMinute: number) {
    this.#database = database;
    this.#missesPerMinute = missesPerMinute;
  }

  /** Returns the parameters of `callerMisses` for the caller of a call. */
  paramsOf(call: CallContext): CallerParams {
    return { callerKey: hash('sha256', call.identity.subject), nowMs: this.#nowMs() };
  }

  /** Throws as `requireMissLeft` does, before a mutation looks a code up. */
  async require(call: CallContext): Promise<void> {
    this.requireMissLeft(onlyRow(await this.#database.for(call).query(readMisses(this.paramsOf(call)))));
  }

  /** Throws RESOURCE_EXHAUSTED TOO_MANY_MISSES if the caller has no miss left. */
  requireMissLeft({ misses, msToWindowEnd }: CallerMisses): void {
    if (misses >= this.#missesPerMinute) throw tooManyMisses(msToWindowEnd ?? windowMs);
  }

  /**
   * Counts a miss once the call's transaction has ended: before, it would take a second connection. A call that gets a
   * stored answer has missed nothing. The count continues when the call is aborted. A miss takes longer than a hit, so
   * a caller could otherwise abort slow calls and guess for free. A call counts its miss before it throws another error:
   * otherwise, guesses with an unknown user would be free.
   *
   * @throws RESOURCE_EXHAUSTED TOO_MANY_MISSES if other calls have used up the misses meanwhile, and errors of
   * `Database`.
   */
  count(call: CallContext): Promise<void> {
    const params = this.paramsOf(call);
    return call.afterWrite(async () => {
      if (!call.isReplayed) await untilAborted(this.#consume(params.callerKey, call.subject), call.signal);
    });
  }

  #nowMs(): number {
    return Math.round(this.#database.clock.now());
  }

  async #consume(callerKey: string, subject: string | undefined): Promise<void> {
    // The signal never aborts. The timeouts of the pool and of statements limit the wait.
    const db = this.#database.for({ subject, signal: new AbortController().signal });
    const nowMs = this.#nowMs();
    const { misses, msToWindowEnd } = onlyRow(await db.query(countMiss({ callerKey, nowMs })));
    if (misses > this.#missesPerMinute) throw tooManyMisses(msToWindowEnd);
    if (misses === 1) await db.query(clearExpiredMisses({ nowMs }));
  }
}

const tooManyMisses = (retryAfterMs: number) => fail(couponErrors.tooManyMisses, { retryAfterMs });

/** Settles as `work` does, or rejects when the signal aborts. The work continues in that case. */
function untilAborted<Result>(work: Promise<Result>, signal: AbortSignalLike): Promise<Result> {
  return new Promise((resolve, reject) => {
    work.then(resolve, reject);
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason));
  });
}

const readMisses = statement<CallerMisses, CallerParams>('callerMisses', callerMisses);

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
