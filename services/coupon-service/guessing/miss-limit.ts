import { hash } from 'node:crypto';
import type { AbortSignalLike } from '../../../shared/cancellation/signal.ts';
import type { Database } from '../../../shared/db/database.ts';
import { onlyRow, statement } from '../../../shared/db/statement.ts';
import { fail } from '../../../shared/errors/errors.ts';
import { keyedStatement } from '../../../shared/reads/keyed-statement.ts';
import type { CallContext } from '../../../shared/rpc/call-context.ts';
import { couponErrors } from '../errors.ts';

const windowMs = 60_000;
const table = 'validate_misses';

/**
 * SQL of a `CallerMisses`, always exactly one row. Its `$key` is JSON with the `CallerParams`. `offset 0` keeps the
 * planner from searching all unexpired windows for the row.
 */
export const callerMisses = `
  select coalesce(max(points), 0) as misses,
    (max(expire) - ($key->>'nowMs')::bigint)::double precision as "msToWindowEnd"
  from (select points, expire from ${table} where key = $key->>'callerKey' offset 0) as counted
  where expire > ($key->>'nowMs')::bigint`;

export interface CallerMisses {
  misses: number;
  /** In milliseconds; null without misses. */
  msToWindowEnd: number | null;
}

interface CallerParams {
  readonly callerKey: string;
  /** Epoch milliseconds by the database's clock, which all replicas share. */
  readonly nowMs: number;
}

/** One guess of a code by a mutation. */
export interface Guess {
  requireLeft(): void;
  /** Counts a miss. Rejects then, or when the call's transaction ends, as `MissLimit.count` does. */
  miss(): Promise<void>;
}

/** Limits how many coupon codes a caller may miss within a minute, over all replicas (design 8). */
export class MissLimit {
  readonly #database: Database;
  readonly #missesPerMinute: number;
  /** By caller, the misses of this process that are not yet in the table. */
  readonly #uncounted = new Map<string, number>();
  /** By caller, the count after this process's last miss, least recent first. */
  readonly #counted = new Map<string, { readonly misses: number; readonly atMs: number }>();

  constructor(database: Database, missesPerMinute: number) {
    this.#database = database;
    this.#missesPerMinute = missesPerMinute;
  }

  /** Returns the parameters of `callerMisses` for the caller of a call. */
  paramsOf(call: CallContext): CallerParams {
    // Hashed, because a subject may be longer than a key may be.
    return { callerKey: hash('sha256', call.identity.subject), nowMs: this.#nowMs() };
  }

  /**
   * Reads the misses of a mutation's caller. Look the code up afterwards, and then call `requireLeft`, which throws
   * RESOURCE_EXHAUSTED TOO_MANY_MISSES as `requireMissLeft` does.
   */
  async open(call: CallContext): Promise<Guess> {
    const caller = this.paramsOf(call);
    const misses = onlyRow(await this.#database.for(call).query(readMisses([JSON.stringify(caller)], {})));
    const requireLeft = () => this.requireMissLeft(caller, misses);
    requireLeft();
    return { requireLeft, miss: () => this.#countAfterWrite(caller, call) };
  }

  /**
   * Throws RESOURCE_EXHAUSTED TOO_MANY_MISSES if the caller has no miss left. In a burst, all guesses would read the
   * table before the first miss is in it. The limit therefore also covers the misses of this process that the read
   * could not see: those not yet counted, and those counted after the read began.
   */
  requireMissLeft({ callerKey, nowMs }: CallerParams, { misses, msToWindowEnd }: CallerMisses): void {
    const counted = this.#counted.get(callerKey);
    const unseen = counted !== undefined && counted.atMs >= nowMs ? counted.misses : 0;
    if (Math.max(misses, unseen, this.#uncountedOf(callerKey)) < this.#missesPerMinute) return;
    throw tooManyMisses(msToWindowEnd ?? windowMs);
  }

  /**
   * Counts a miss. The count continues when the call is aborted. A miss takes longer than a hit, so a caller could
   * otherwise abort slow calls and guess for free.
   *
   * @throws RESOURCE_EXHAUSTED TOO_MANY_MISSES if other calls have used up the misses meanwhile,
   * and errors of `Database`.
   */
  async count({ callerKey }: CallerParams, call: CallContext): Promise<void> {
    const end = this.#begin(callerKey);
    await untilAborted(this.#consume(callerKey, call.subject).finally(end), call.signal);
  }

  /**
   * Counts as `count` does once the call's transaction has ended: before, it would take a second connection from the pool.
   * A call that gets a stored answer has missed nothing.
   */
  #countAfterWrite({ callerKey }: CallerParams, call: CallContext): Promise<void> {
    const end = this.#begin(callerKey);
    return call.afterWrite(async () => {
      if (call.isReplayed) end();
      else await untilAborted(this.#consume(callerKey, call.subject).finally(end), call.signal);
    });
  }

  /** Adds a miss that is not in the table yet. Returns a function that takes it away. */
  #begin(callerKey: string): () => void {
    this.#uncounted.set(callerKey, this.#uncountedOf(callerKey) + 1);
    return () => {
      const left = this.#uncountedOf(callerKey) - 1;
      if (left > 0) this.#uncounted.set(callerKey, left);
      else this.#uncounted.delete(callerKey);
    };
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
    // The signal never aborts. The timeouts of the pool and of statements limit the wait.
    const db = this.#database.for({ subject, signal: new AbortController().signal });
    const nowMs = this.#nowMs();
    const { misses, msToWindowEnd } = onlyRow(await db.query(countMiss({ callerKey, nowMs })));
    this.#remember(callerKey, misses);
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

const readMisses = keyedStatement<string, CallerMisses>('callerMisses', 'json', callerMisses);

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
