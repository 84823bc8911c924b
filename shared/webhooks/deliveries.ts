import { type Passed, passedAfter } from '../audit/passed.ts';
import { statement } from '../db/statement.ts';

// A row for each service tells what was taken. Its `due_at` is a lease: a replica that sends moves it, and nobody else
// sends before. A replica that was slower than its lease finds another number of `claims`, and writes nothing.

/** Longer than a statement and an answer may take. After a kill, another replica goes on then. */
const leaseSeconds = 20;
const maxRetrySeconds = 300;

// A clock that was ahead may have left a time that is too far away.
const isDue = `(due_at <= clock_timestamp() or due_at > clock_timestamp() + ${2 * maxRetrySeconds} * interval '1 second')`;
const lease = `clock_timestamp() + ${leaseSeconds} * interval '1 second'`;

/** How far the webhooks of a service are. */
export interface Delivery {
  /** The id of the last entry that was taken; null: webhooks have not begun. */
  readonly sentId: number | null;
  /** The last id of a batch that was tried. It is sent again as it was. */
  readonly batchEnd: number | null;
  /** Whether nobody sends, and no retry has to wait. */
  readonly isDue: boolean;
}

interface OfService {
  readonly service: string;
}

/** A batch that a replica has the lease of. */
export interface Claimed extends OfService {
  readonly batchEnd: number;
  readonly claims: string;
}

export const readDelivery = statement<Delivery, OfService>(
  'readDelivery',
  `select sent_id::float8 as "sentId", batch_end::float8 as "batchEnd", ${isDue} as "isDue"
   from webhook_deliveries where service = $service`,
);

/**
 * Begins webhooks. No row: they have begun before. A row tells which entries were committed before, and are not sent.
 * Those of a transaction that is open now have the ids of gaps, or higher ones: so webhooks begin before the first gap.
 * A transaction of a service takes less than five minutes, since PostgreSQL ends its statements and its pauses.
 */
export const beginDelivery = statement<Passed, OfService>(
  'beginDelivery',
  `with older as materialized (
     select coalesce(max(id), 0) as id from audit_entries where at < clock_timestamp() - interval '5 minutes'
   ),
   passed as materialized (${passedAfter('(select id from older)')})
   update webhook_deliveries
   set sent_id = coalesce("gapsAfter"[1], "upTo")
   from passed where service = $service and sent_id is null
   returning "upTo", "gapsAfter", "gapsBefore"`,
);

/** Goes on where webhooks began or ended. */
export const resumeDelivery = statement<never, OfService>(
  'resumeDelivery',
  `update webhook_deliveries set is_active = true, failures = 0, due_at = least(due_at, ${lease}) where service = $service`,
);

/** Lets retention delete what is unsent. */
export const endDelivery = statement<{ swept: number }, OfService>(
  'endDelivery',
  `with ended as (
     update webhook_deliveries set is_active = false where service = $service and is_active returning 1
   )
   select count(*)::integer as swept from ended`,
);

/** Takes the lease of a batch. No row: another replica has it, or has tried one since this one has read the row. */
export const claimBatch = statement<
  { claims: string },
  OfService & { sentId: number; triedEnd: number | null; batchEnd: number }
>(
  'claimBatch',
  `update webhook_deliveries set batch_end = $batchEnd::bigint, claims = claims + 1, is_active = true, due_at = ${lease}
   where service = $service and sent_id = $sentId::bigint and batch_end is not distinct from $triedEnd::bigint
     and ${isDue}
   returning claims`,
);

/** Moves on to what comes after a batch that was taken. */
export const completeBatch = statement<never, Claimed>(
  'completeBatch',
  `update webhook_deliveries set sent_id = batch_end, batch_end = null, failures = 0, due_at = clock_timestamp()
   where service = $service and claims = $claims::bigint and batch_end = $batchEnd::bigint`,
);

/** Lets the next attempt wait: 1 s, then twice as long each time. */
export const delayBatch = statement<{ failures: number }, Claimed>(
  'delayBatch',
  `update webhook_deliveries
   set failures = failures + 1,
     due_at = clock_timestamp() + least(power(2, least(failures, 9)), ${maxRetrySeconds}) * interval '1 second'
   where service = $service and claims = $claims::bigint and batch_end = $batchEnd::bigint
   returning failures`,
);

/** Moves on where the service has no entries: none was written, or retention has deleted them. */
export const passEntries = statement<never, OfService & { sentId: number; batchEnd: number | null; upTo: number }>(
  'passEntries',
  `update webhook_deliveries set sent_id = $upTo::bigint, batch_end = nullif(batch_end, $upTo::bigint)
   where service = $service and sent_id = $sentId::bigint and batch_end is not distinct from $batchEnd::bigint and ${isDue}`,
);
