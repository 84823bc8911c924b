import type { AbortSignalLike } from '../../../shared/cancellation/signal.ts';
import type { Database } from '../../../shared/db/database.ts';
import { onlyRow, statement } from '../../../shared/db/statement.ts';

/** The channel on which a refresh notifies the replicas of its version. */
export const storeVersionChannel = 'store_version';
/** The channel on which it tells the etags of the slots that were written since the refresh before it, as JSON by id. */
export const slotsChannel = 'slots_written';

/** How many versions are remembered. A replica whose copy is none of them loads all slots. */
const versionsKept = 1_000;
/** How many slots a statement stores, so that none comes near to the time that a statement may take. */
const slotsAtOnce = 1_000;

// The lock comes before the transaction's snapshot, so that a refresh that waited for another one sees
// its version.
const lockStoreVersions = statement<never>('lockStoreVersions', 'lock table store_versions in exclusive mode');

// A version whose snapshot is ahead of ours came with a dump of another cluster.
const latestVersion = statement<{ version: number; isUsable: boolean }>(
  'latestVersion',
  `select version, pg_snapshot_xmax(snapshot) <= pg_snapshot_xmax(pg_current_snapshot()) as "isUsable"
   from store_versions order by version desc limit 1`,
);

const takeRequests = statement<{ slotId: number | null; requests: number }>(
  'takeRequests',
  `with taken as (delete from store_refresh_requests returning slot_id)
   select slot_id as "slotId", count(*)::integer as requests from taken group by slot_id`,
);

// In one value: as many rows would take long to read.
const allSlots = statement<{ slotIds: number[] }>(
  'allSlots',
  `select coalesce(json_agg(id), '[]') as "slotIds" from slots`,
);

const storeSlots = statement<never, { slotIds: number[]; version: number }>(
  'storeSlots',
  // A slot whose times no answer can show is stored as one that is not active: it must not stop the refresh of the others.
  `with written as (
     select *, least(delivery_time, freeze_time) >= '0001-01-01Z' and greatest(delivery_time, freeze_time) < '10000-01-01Z' as is_sound
     from slots where id = any((select $slotIds::integer[])::integer[])
   ),
   stored as (
     insert into stored_slots (slot_id, version, delivery_ms, freeze_ms, is_active, is_capacity_full, product_ids)
     select id, $version, case when is_sound then floor(extract(epoch from delivery_time) * 1000) else 0 end,
       case when is_sound then floor(extract(epoch from freeze_time) * 1000) else 0 end,
       is_active and is_sound, is_capacity_full, array(
         select product_id from product_slots where slot_id = written.id and is_active order by product_id
       )
     from written
     on conflict (slot_id) do update set version = excluded.version, delivery_ms = excluded.delivery_ms,
       freeze_ms = excluded.freeze_ms, is_active = excluded.is_active, is_capacity_full = excluded.is_capacity_full,
       product_ids = excluded.product_ids
     where (stored_slots.delivery_ms, stored_slots.freeze_ms, stored_slots.is_active, stored_slots.is_capacity_full,
         stored_slots.product_ids)
       is distinct from (excluded.delivery_ms, excluded.freeze_ms, excluded.is_active, excluded.is_capacity_full,
         excluded.product_ids)
   ),
   gone as (
     update stored_slots set version = $version, is_active = false
     where slot_id = any((select $slotIds::integer[])::integer[]) and is_active
       and not exists (select from slots where id = slot_id)
   ),
   -- In parts: a notification has 8,000 bytes at most.
   parts as (
     select json_object_agg(id, etag::text) as etags
     from (select id, etag, row_number() over () / 200 as part from written) as numbered
     group by part
   )
   select pg_notify('${slotsChannel}', etags::text) from parts`,
);

// The replicas load all slots then, too, and not what is newer than their copies.
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
   returning pg_notify('${storeVersionChannel}', version::text)`,
);

export interface Refreshed {
  readonly version: number;
  /** How many requests it covers. */
  readonly requests: number;
  /** How many slots it has stored, or found to be stored as they are. */
  readonly slots: number;
}

/**
 * Stores the slots that requests name as a new version, when requests wait (design 4, step 3). It stores all slots when a
 * request names none, or when there is no version yet. One REPEATABLE READ transaction deletes the requests that it sees
 * and reads the slots from the same snapshot. All replicas together run one at a time.
 *
 * @returns the new version; undefined when there was nothing to do.
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
