import { create } from '@bufbuild/protobuf';
import { type Timestamp, timestampFromDate, timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import type { Queryable } from '../../../shared/db/database.ts';
import { statement } from '../../../shared/db/statement.ts';
import { type OpenSlot, OpenSlotSchema } from '../../../shared/gen/slot/v1/slot_store_service_pb.ts';
import type { StoreRequest } from './requests.ts';
import { parseSnapshot, sees, type TransactionSnapshot } from './snapshot.ts';

/** A slot that was active and not full when the stores were built. */
export interface StoredSlot {
  readonly message: OpenSlot;
  readonly freezeMs: number;
}

/** One version of the derived stores in memory. It is immutable. */
export interface StoreContent {
  readonly version: number;
  readonly refreshedAt: Timestamp;
  /** The database's timeline when it was built: transaction ids are unique within a timeline. */
  readonly timeline: number;
  readonly snapshot: TransactionSnapshot;
  /** Ordered by delivery time, then id. */
  readonly slots: readonly StoredSlot[];
  readonly byProduct: ReadonlyMap<number, readonly StoredSlot[]>;
}

/** A slot as `refreshStores` writes it: id, delivery and freeze in epoch milliseconds, full, products. */
type SlotTuple = [number, number, number, boolean, number[]];

interface StoreVersionRow {
  version: number;
  refreshedAt: Date;
  timeline: number;
  snapshot: string;
  content: SlotTuple[];
}

const loadStoresRow = statement<StoreVersionRow>(
  'loadStores',
  `select version, refreshed_at as "refreshedAt", timeline, snapshot::text as snapshot, content
   from store_versions order by version desc limit 1`,
);

/** Reads the newest version; undefined when there is none yet. */
export async function loadStores(db: Queryable): Promise<StoreContent | undefined> {
  const [row] = await db.query(loadStoresRow());
  return row && build(row);
}

function build(row: StoreVersionRow): StoreContent {
  const open = row.content.filter(([, , , isCapacityFull]) => !isCapacityFull);
  open.sort(([leftId, left], [rightId, right]) => left - right || leftId - rightId);
  const slots = open.map(([id, deliveryMs, freezeMs, isCapacityFull, productIds]): StoredSlot => {
    const deliveryTime = timestampFromMs(deliveryMs);
    const freezeTime = timestampFromMs(freezeMs);
    productIds.sort((left, right) => left - right);
    return {
      freezeMs,
      message: create(OpenSlotSchema, { id, deliveryTime, freezeTime, isCapacityFull, productIds }),
    };
  });
  const byProduct = new Map<number, StoredSlot[]>();
  for (const slot of slots) {
    for (const productId of slot.message.productIds) {
      const ofProduct = byProduct.get(productId);
      if (ofProduct === undefined) byProduct.set(productId, [slot]);
      else ofProduct.push(slot);
    }
  }
  return {
    version: row.version,
    refreshedAt: timestampFromDate(row.refreshedAt),
    timeline: row.timeline,
    snapshot: parseSnapshot(row.snapshot),
    slots,
    byProduct,
  };
}

/** Whether a version shows a write. */
export function covers({ timeline, snapshot }: StoreContent, request: StoreRequest): boolean {
  return timeline === request.timeline && sees(snapshot, request.transaction);
}

/** Whether both are the same version: after a recovery, another version may have the same number. */
export function isSameVersion(left: StoreContent, right: StoreContent): boolean {
  const isOfOneRefresh = timestampMs(left.refreshedAt) === timestampMs(right.refreshedAt);
  return isOfOneRefresh && left.version === right.version && left.timeline === right.timeline;
}
