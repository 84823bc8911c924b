import type { AbortSignalLike } from '../../../shared/cancellation/signal.ts';
import type { Database } from '../../../shared/db/database.ts';
import { statement } from '../../../shared/db/statement.ts';

/** The channel on which a refresh notifies the replicas of its version. */
export const storeVersionChannel = 'store_version';
/** The channel on which it tells the etags of the slots that were written since the refresh before it, as JSON by id. */
export const slotsChannel = 'slots_written';

// The lock comes before the transaction's snapshot, so that a refresh that waited for another one sees
// its version.
const lockStoreVersions = statement<never>('lockStoreVersions', 'lock table store_versions in exclusive mode');

const refreshStoresRow = statement<{ version: number; requests: number }>(
  'refreshStores',
  `with taken as (delete from store_refresh_requests returning slot_id),
   -- A version whose snapshot is ahead of ours came with a dump of another cluster.
   usable as (
     select from store_versions where pg_snapshot_xmax(snapshot) <= pg_snapshot_xmax(pg_current_snapshot())
   ),
   asked as (select from taken union all select where not exists (select from usable) limit 1),
   slot_products as (
     select slot_id, array_to_json(array_agg(product_id)) as product_ids from product_slots group by slot_id
   ),
   stored as (
     insert into store_versions (version, refreshed_at, snapshot, content)
     select
       (select coalesce(max(version), 0) + 1 from store_versions), statement_timestamp(), pg_current_snapshot(),
       (select coalesce(json_agg(json_build_array(
          slots.id, floor(extract(epoch from delivery_time) * 1000), floor(extract(epoch from freeze_time) * 1000),
          is_capacity_full, coalesce(product_ids, '[]')
        )), '[]')
        from slots left join slot_products on slot_id = slots.id
        where is_active)
     from asked
     returning version
   ),
   dropped as (delete from store_versions where exists (select from stored)),
   -- In parts: a notification has 8,000 bytes at most.
   written as (
     select json_object_agg(id, etag::text) as etags
     from (
       select id, etag, row_number() over () / 200 as part from slots where id in (select slot_id from taken)
     ) as parts
     group by part
   ),
   notified as (select pg_notify('${slotsChannel}', etags::text) from written)
   select version, (select count(*) from taken)::integer as requests, pg_notify('${storeVersionChannel}', version::text),
     (select count(*) from notified)
   from stored`,
);

export interface Refreshed {
  readonly version: number;
  /** How many requests it covers. */
  readonly requests: number;
}

/**
 * Rebuilds the derived stores when requests wait, or when there is no version yet (design 4, step 3).
 * One REPEATABLE READ transaction deletes the requests that it sees and builds from the same snapshot.
 * All replicas together run one at a time.
 *
 * @returns the new version; undefined when there was nothing to do.
 */
export function refreshStores(database: Database, signal: AbortSignalLike): Promise<Refreshed | undefined> {
  return database.transaction(
    { signal },
    async (tx) => {
      await tx.query(lockStoreVersions());
      const [stored] = await tx.query(refreshStoresRow());
      return stored;
    },
    { isolation: 'repeatable read' },
  );
}
