import type { AbortSignalLike } from '../../../shared/cancellation/signal.ts';
import type { Database } from '../../../shared/db/database.ts';
import { onlyRow, statement } from '../../../shared/db/statement.ts';
import { bookedUnits } from '../slots/capacity.ts';

/** The channel on which a refresh notifies the replicas of its version. */
export const storeVersionChannel = 'store_version';

/** How many versions are remembered. A replica with an older copy loads all slots. */
const versionsKept = 1_000;
/** How many slots one statement stores, which keeps it well below the statement timeout. */
const slotsAtOnce = 1_000;

// Locking before the transaction's snapshot lets a refresh that waited for another one see its version.
const lockStoreVersions = statement<never>('lockStoreVersions', 'lock table store_versions in exclusive mode');

// A version whose snapshot is ahead of ours came with a dump of another cluster, and is unusable.
export const latestVersion = statement<{ version: number; isUsable: boolean }>(
  'latestVersion',
  `select version, pg_snapshot_xmax(snapshot) <= pg_snapshot_xmax(pg_current_snapshot()) as "isUsable"
   from store_versions order by version desc limit 1`,
);

const takeRequests = statement<{ slotId: number | null; requests: number }>(
  'takeRequests',
  `with taken as (delete from store_refresh_requests returning slot_id)
   select slot_id as "slotId", count(*)::integer as requests from taken group by slot_id`,
);

// Returned as one value, because reading as many rows takes long.
const allSlots = statement<{ slotIds: number[] }>(
  'allSlots',
  `select coalesce(json_agg(id), '[]') as "slotIds" from slots`,
);

// A slot is filled until a sweep marks the holds that have run out. By the time alone, a refresh could take a hold for run
// out that is being confirmed, and nothing would tell that it was not.
const storeSlots = statement<never, { slotIds: number[]; version: number }>(
  'storeSlots',
  `with stored as materialized (
     select slots.*, ${bookedUnits} as booked, (
         select held + booked >= slots.capacity from slot_usage where slot_id = slots.id
       ) as is_filled
     from slots where id = any($slotIds::integer[])
   ),
   gone as (
     update stored_slots set version = $version, is_active = false
     where slot_id = any($slotIds::integer[]) and is_active
       and not exists (select from slots where id = slot_id)
   )
   insert into stored_slots (slot_id, version, delivery_ms, freeze_ms, is_active, is_capacity_full, product_ids, capacity,
     window_minutes, booked)
   select id, $version, floor(extract(epoch from delivery_time) * 1000), floor(extract(epoch from freeze_time) * 1000),
     is_active, is_capacity_full or coalesce(is_filled, false), array(
       select product_id from product_slots where slot_id = stored.id and stored.is_active order by product_id
     ), capacity, window_minutes, booked
   from stored
   on conflict (slot_id) do update set version = excluded.version, delivery_ms = excluded.delivery_ms,
     freeze_ms = excluded.freeze_ms, is_active = excluded.is_active, is_capacity_full = excluded.is_capacity_full,
     product_ids = excluded.product_ids, capacity = excluded.capacity, window_minutes = excluded.window_minutes,
     booked = excluded.booked
   where (stored_slots.delivery_ms, stored_slots.freeze_ms, stored_slots.is_active, stored_slots.is_capacity_full,
       stored_slots.product_ids, stored_slots.capacity, stored_slots.window_minutes, stored_slots.booked)
     is distinct from (excluded.delivery_ms, excluded.freeze_ms, excluded.is_active, excluded.is_capacity_full,
       excluded.product_ids, excluded.capacity, excluded.window_minutes, excluded.booked)`,
);

// Replicas then load all slots, not only those newer than their copies.
const startAnew = statement<never>(
  'startAnew',
  `with gone as (delete from stored_slots where not exists (select from slots where id = slot_id))
   delete from store_versions`,
);

const publishVersion = statement<never, { version: number; oldest: number }>(
  'publishVersion',
  `with forgotten as (delete from store_versions where version < $oldest)
   insert into store_versions (version, refreshed_at, snapshot)
   values ($version, statement_timestamp(), pg_current_snapshot())
   returning pg_notify(own_name('${storeVersionChannel}'), version::text)`,
);

export interface Refreshed {
  readonly version: number;
  /** The number of requests that it covers. */
  readonly requests: number;
  /** The number of slots that it stored or found unchanged. */
  readonly slots: number;
}

/**
 * Stores the slots of pending requests as a new version (design 4). Stores all slots if a request names none,
 * or if there is no usable version. One REPEATABLE READ transaction deletes the requests that it sees and reads the
 * slots from the same snapshot. A lock makes the refreshes of all replicas run one at a time.
 *
 * @returns the new version; undefined if there was nothing to do.
 */
export function refreshStores(database: Database, signal: AbortSignalLike): Promise<Refreshed | undefined> {
  return database.transaction(
    { signal },
    async (tx) => {
      await tx.query(lockStoreVersions());
      const [latest] = await tx.query(latestVersion());
      const taken = await tx.query(takeRequests());
      const isWhole = !latest?.isUsable || taken.some(({ slotId }) => slotId === null);
      if (taken.length === 0 && !isWhole) return undefined;
      const version = (latest?.version ?? 0) + 1;
      const slotIds = isWhole
        ? onlyRow(await tx.query(allSlots())).slotIds
        : taken.flatMap(({ slotId }) => slotId ?? []);
      for (let from = 0; from < slotIds.length; from += slotsAtOnce) {
        await tx.query(storeSlots({ slotIds: slotIds.slice(from, from + slotsAtOnce), version }));
      }
      if (isWhole) await tx.query(startAnew());
      await tx.query(publishVersion({ version, oldest: version - versionsKept + 1 }));
      return { version, requests: taken.reduce((sum, { requests }) => sum + requests, 0), slots: slotIds.length };
    },
    { isolation: 'repeatable read' },
  );
}
