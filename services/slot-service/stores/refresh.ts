import type { AbortSignalLike } from '../../../shared/cancellation/signal.ts';
import type { Database } from '../../../shared/db/database.ts';
import { statement } from '../../../shared/db/statement.ts';

/** The channel on which a new version of the stores is told. */
export const storeVersionChannel = 'store_version';

// Comes before the first snapshot of the transaction: a refresh that had to wait for another one
// must see what that one did.
const lockStoreVersions = statement<never>('lockStoreVersions', 'lock table store_versions in exclusive mode');

const refreshStoresRow = statement<{ version: number; requests: number }>(
  'refreshStores',
  `with taken as (delete from store_refresh_requests returning id),
   -- A version whose snapshot is ahead came with a dump of another cluster: its transactions are not ours.
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
   dropped as (delete from store_versions where exists (select from stored))
   select version, (select count(*) from taken)::integer as requests, pg_notify('${storeVersionChannel}', version::text)
   from stored`,
);

export interface Refreshed {
  readonly version: number;
  /** How many requests it covered. */
  readonly requests: number;
}

/**
 * Rebuilds the derived stores when there are requests for it, or no version yet (design 4, step 3):
 * one REPEATABLE READ transaction takes the requests that it can see and builds from the same
 * snapshot. One runs at a time, whatever the number of replicas.
 *
 * @returns undefined when there was nothing to do.
 */
export function refreshStores(database: Database, signal: AbortSignalLike): Promise<Refreshed | undefined> {
  return database.transaction(
    signal,
    async (tx) => {
      await tx.query(lockStoreVersions());
      const [stored] = await tx.query(refreshStoresRow());
      return stored;
    },
    'repeatable read',
  );
}
