import { statement } from '../db/statement.ts';

// A row for each service tells what was taken. Its `due_at` serves as a lock: who sends moves it, and nobody else sends before.

/** Longer than an answer may take. After a kill, another replica goes on then. */
const leaseSeconds = 15;
const maxRetrySeconds = 300;

/** How far the webhooks of a service are. */
export interface Delivery {
  /** The id of the last entry that was taken. */
  readonly sentId: number;
  /** The id of the last entry of a batch that was tried. It is sent again as it was. */
  readonly batchEnd: number | null;
  /** Whether nobody sends, and no retry has to wait. */
  readonly isDue: boolean;
}

interface OfService {
  readonly service: string;
}

/** What a batch begins after, and its last entry. */
interface Batch extends OfService {
  readonly sentId: number;
  readonly batchEnd: number;
}

export const readDelivery = statement<Delivery, OfService>(
  'readDelivery',
  `select sent_id::float8 as "sentId", batch_end::float8 as "batchEnd", due_at <= clock_timestamp() as "isDue"
   from webhook_deliveries where service = $service`,
);

/** Begins after an entry, or goes on where webhooks ended. */
export const beginDelivery = statement<never, OfService & { sentId: number }>(
  'beginDelivery',
  `insert into webhook_deliveries (service, sent_id) values ($service, $sentId::bigint)
   on conflict (service) do update
   set is_active = true, failures = 0,
     due_at = least(webhook_deliveries.due_at, clock_timestamp() + ${leaseSeconds} * interval '1 second')`,
);

/** Lets retention delete what is unsent. */
export const endDelivery = statement<never, OfService>(
  'endDelivery',
  'update webhook_deliveries set is_active = false where service = $service and is_active',
);

/** Takes the lock for a batch. No row: another replica has it. */
export const claimBatch = statement<{ isClaimed: true }, Batch>(
  'claimBatch',
  `update webhook_deliveries
   set batch_end = $batchEnd::bigint, due_at = clock_timestamp() + ${leaseSeconds} * interval '1 second'
   where service = $service and sent_id = $sentId::bigint and coalesce(batch_end, $batchEnd::bigint) = $batchEnd::bigint
     and due_at <= clock_timestamp()
   returning true as "isClaimed"`,
);

/** Moves on to the next batch, behind one that was taken or has no entry of the service. */
export const completeBatch = statement<never, Batch>(
  'completeBatch',
  `update webhook_deliveries set sent_id = $batchEnd::bigint, batch_end = null, failures = 0, due_at = clock_timestamp()
   where service = $service and sent_id = $sentId::bigint`,
);

/** Lets the next attempt wait: 1 s, then twice as long each time. */
export const delayBatch = statement<{ failures: number }, Batch>(
  'delayBatch',
  `update webhook_deliveries
   set failures = failures + 1,
     due_at = clock_timestamp() + least(power(2, least(failures, 9)), ${maxRetrySeconds}) * interval '1 second'
   where service = $service and sent_id = $sentId::bigint and batch_end = $batchEnd::bigint
   returning failures`,
);
