import { hash } from 'node:crypto';
import { type DescMessage, isMessage, type Message } from '@bufbuild/protobuf';
import { ConnectError } from '@connectrpc/connect';
import type { Logger } from 'pino';
import type { ServiceConfig } from '../../config/config.ts';
import type { Database } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { commonErrors, errorInfo, fail } from '../../errors/errors.ts';
import { IdListSchema } from '../../gen/common/v1/id_list_pb.ts';
import { encodeMessage } from '../answers/encoding.ts';
import type { CallContext } from '../call-context.ts';
import type { Implementation, Rpc } from '../implementation.ts';
import { isMutation } from './mutation.ts';
import { StoredAnswer } from './stored-answer.ts';

const hourMs = 3_600_000;
const flushEveryMs = 1_000;

/** The bytes that one caller has stored. */
interface Count {
  /** The bytes of this hour over all replicas, as of the last flush. */
  total: number;
  /** The bytes counted since the last flush. */
  unwritten: number;
  /** When the hour ends, by `performance.now`. */
  endsAtMs: number;
}

interface QuotaParts {
  readonly config: Pick<ServiceConfig, 'storedMibPerHour'>;
  readonly database: Database;
  readonly logger: Logger;
}

/**
 * Limits how much a caller may store in an hour of PostgreSQL's clock, over all replicas (design 8). It
 * adds no round trip to a call: each replica adds up the bytes of its calls, writes the sums once a second,
 * and reads back the totals.
 */
export class StorageQuota {
  readonly #maxBytes: number;
  readonly #database: Database;
  readonly #logger: Logger;
  readonly #counts = new Map<string, Count>();
  readonly #timer: NodeJS.Timeout;
  #flushing: Promise<void> | undefined;

  constructor({ config, database, logger }: QuotaParts) {
    this.#maxBytes = config.storedMibPerHour * 1024 ** 2;
    this.#database = database;
    this.#logger = logger;
    this.#timer = setInterval(() => void this.#flush(), flushEveryMs).unref();
  }

  /** Throws RESOURCE_EXHAUSTED STORAGE_QUOTA if the caller has reached its quota for this hour. */
  requireRoom(subject: string): void {
    const count = this.#counts.get(subject);
    if (count === undefined || count.total + count.unwritten < this.#maxBytes) return;
    const retryAfterMs = Math.ceil(count.endsAtMs - performance.now());
    if (retryAfterMs > 0) throw fail(commonErrors.storageQuota, { retryAfterMs });
  }

  add(subject: string, bytes: number): void {
    const count = this.#counts.get(subject);
    if (count === undefined) {
      this.#counts.set(subject, { total: 0, unwritten: bytes, endsAtMs: performance.now() + hourMs });
    } else {
      count.unwritten += bytes;
    }
  }

  /** Stops the flushes after a last one. The database must still be open. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#flush();
  }

  #flush(): Promise<void> {
    this.#flushing ??= this.#write()
      .catch((error: unknown) => this.#logger.warn({ err: error }, 'what callers have stored could not be counted'))
      .finally(() => {
        this.#flushing = undefined;
      });
    return this.#flushing;
  }

  async #write(): Promise<void> {
    const written = new Map<string, { readonly count: Count; readonly bytes: number }>();
    for (const [subject, count] of this.#counts) {
      if (count.unwritten > 0) written.set(hash('sha256', subject), { count, bytes: count.unwritten });
      else if (count.endsAtMs < performance.now()) this.#counts.delete(subject);
    }
    if (written.size === 0) return;
    const bytes = [...written.values()].map((each) => each.bytes);
    const db = this.#database.for({ signal: AbortSignal.timeout(flushEveryMs * 10) });
    for (const { caller, total, leftMs } of await db.query(countStored({ callers: [...written.keys()], bytes }))) {
      const each = written.get(caller);
      if (each === undefined) continue;
      each.count.total = total;
      each.count.unwritten -= each.bytes;
      each.count.endsAtMs = performance.now() + leftMs;
    }
  }
}

/** Refuses the mutations of callers over their quota, and counts the bytes of the others. */
export function withStorageQuota({ service, rpcs }: Implementation, quota: StorageQuota): Implementation {
  const bounded = (rpc: Rpc): Rpc => ({
    ...rpc,
    async invoke(request, call) {
      const { subject } = call.identity;
      quota.requireRoom(subject);
      const count = (answerBytes: number) =>
        quota.add(subject, storedBytes(rpc.method.input, request) + unseenBytes(call.stored) + answerBytes);
      try {
        const answer = await rpc.invoke(request, call);
        // A replay counts too: it may have written everything before it found its key, leaving as many dead rows.
        count(answer instanceof StoredAnswer ? answer.bytes.length : 0);
        return answer;
      } catch (error) {
        const isReused =
          error instanceof ConnectError && errorInfo(error)?.reason === commonErrors.idempotencyKeyReused.reason;
        if (isReused) count(0);
        throw error;
      }
    },
  });
  return { service, rpcs: rpcs.map((rpc) => (isMutation(rpc.method) ? bounded(rpc) : rpc)) };
}

// Measured, and rounded up. `perCall` covers a record with its indexes and its audit entry. `perByte` covers a request
// byte in the record and, as text, in the entry. `perLink` covers a link row with up to four indexes, and its place in
// the entry. The factors leave room for removed values, which reappear in the entry of the write that removes them.
const perCall = 1_024;
const perByte = 4;
const perLink = 128;

/** By message, the id lists of which each id is stored as a row. */
const linkFields: Readonly<Record<string, readonly string[]>> = {
  'coupon.v1.CouponBody': ['applicableUsers', 'applicableProducts'],
  'slot.v1.CreateSlotRequest': ['productIds'],
  'slot.v1.UpdateSlotRequest': ['productIds'],
  'slot.v1.UpdateSlotProductsRequest': ['productIds'],
};

/** Estimates the bytes that a mutation stores, rounded up. */
function storedBytes(schema: DescMessage, request: Message): number {
  return perCall + perByte * encodeMessage(schema, request).length + perLink * countLinks(request);
}

const unseenBytes = ({ records, links }: CallContext['stored']) => perCall * records + perLink * links;

function countLinks(message: Message): number {
  const links = linkFields[message.$typeName];
  return Object.entries(message).reduce((sum, [name, value]) => {
    if (links?.includes(name)) return sum + (isMessage(value, IdListSchema) ? value.ids : (value ?? [])).length;
    return isMessage(value) ? sum + countLinks(value) : sum;
  }, 0);
}

const countStored = statement<
  { caller: string; total: number; leftMs: number },
  { callers: string[]; bytes: number[] }
>(
  'countStored',
  // A fixed order: two replicas that update the same callers in different orders would deadlock.
  `insert into stored_bytes (caller, hour, bytes)
   select caller, date_trunc('hour', now()), bytes
   from unnest((select $callers::text[]), (select $bytes::bigint[])) as counted (caller, bytes) order by caller
   on conflict (hour, caller) do update set bytes = stored_bytes.bytes + excluded.bytes
   returning caller, bytes::float8 as total, (extract(epoch from hour + interval '1 hour' - now()) * 1000)::float8 as "leftMs"`,
);

/** Deletes the counts of past hours. Returns the number of deleted rows. */
export const sweepStoredBytes = statement<{ swept: number }, { most: number }>(
  'sweepStoredBytes',
  `with oldest as (
     select hour, caller from stored_bytes where hour < now() - interval '2 hours'
     order by hour limit $most::integer for update skip locked
   ),
   swept as (delete from stored_bytes using oldest where (stored_bytes.hour, stored_bytes.caller) = (oldest.hour, oldest.caller) returning 1)
   select count(*)::integer as swept from swept`,
);
