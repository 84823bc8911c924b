import type { AbortSignalLike } from '../../../shared/cancellation/signal.ts';
import type { Database } from '../../../shared/db/database.ts';
import { statement } from '../../../shared/db/statement.ts';
import { applyChanges, type StoreContent, type StoredChange, type StoredSlots } from './content.ts';
import { parseSnapshot } from './requests.ts';

interface VersionRow {
  id: string;
  version: number;
  refreshedAt: Date;
  timeline: number;
  snapshot: string;
  isAfterLoaded: boolean;
  fromMs: number;
}

/** How long closed slots are kept. Reads filter by the current time, which a failover may set back. */
const keptMs = 24 * 60 * 60_000;

const newestVersion = statement<VersionRow, { loadedId: string | null }>(
  'newestVersion',
  `select id, version, refreshed_at as "refreshedAt", timeline, snapshot::text as snapshot,
     exists (select from store_versions where id = $loadedId::uuid) as "isAfterLoaded",
     extract(epoch from now())::float8 * 1000 - ${keptMs} as "fromMs"
   from store_versions order by version desc limit 1`,
);

const changeColumns = `slot_id as id, delivery_ms::float8 as "deliveryMs", freeze_ms::float8 as "freezeMs",
  is_active and not is_capacity_full as "isOpen", array_to_json(product_ids) as "productIds"`;

const changesSince = statement<StoredChange, { version: number }>(
  'changesSince',
  `select ${changeColumns} from stored_slots where version > $version order by delivery_ms, slot_id`,
);

// In a table with years of history, few slots are still open.
const openSlots = statement<StoredChange, { fromMs: number }>(
  'openSlots',
  `select ${changeColumns} from stored_slots
   where is_active and not is_capacity_full and least(delivery_ms, freeze_ms) > $fromMs::float8
   order by delivery_ms, slot_id`,
);

const noSlots: StoredSlots = { slots: [], byProduct: new Map() };

/**
 * Loads the newest version. Reads only the changes since `loaded` if the database knows that version; otherwise, as
 * after a recovery, reads all open slots.
 *
 * @returns `loaded` itself if it is the newest version; undefined if there is no version yet.
 */
export async function loadStores(
  database: Database,
  loaded: StoreContent | undefined,
  signal: AbortSignalLike,
): Promise<StoreContent | undefined> {
  const read = await database.transaction(
    { signal },
    async (tx) => {
      const [newest] = await tx.query(newestVersion({ loadedId: loaded?.id ?? null }));
      if (newest === undefined || newest.id === loaded?.id) return undefined;
      const before = newest.isAfterLoaded ? loaded : undefined;
      const changes = await tx.query(
        before === undefined ? openSlots({ fromMs: newest.fromMs }) : changesSince({ version: before.version }),
      );
      return { newest, before, changes };
    },
    { isolation: 'repeatable read' },
  );
  if (read === undefined) return loaded;
  const { id, version, refreshedAt, timeline, snapshot, fromMs } = read.newest;
  return {
    id,
    version,
    refreshedAt: refreshedAt.getTime(),
    timeline,
    snapshot: parseSnapshot(snapshot),
    ...(await applyChanges(read.before ?? noSlots, read.changes, fromMs)),
  };
}
