import { setImmediate as nextIteration } from 'node:timers/promises';
import type { AbortSignalLike } from '../../../shared/cancellation/signal.ts';
import type { Database } from '../../../shared/db/database.ts';
import { statement } from '../../../shared/db/statement.ts';
import { Slice, type Sliced } from '../../../shared/rpc/answers/slices.ts';
import type { SlotCounts } from '../slots/slot.ts';
import { parseSnapshot, type StoreRequest, sees, type TransactionSnapshot } from './requests.ts';

/** A slot as it was, active and not full, when its version was stored. Times are in epoch milliseconds. */
export interface StoredSlot extends Partial<SlotCounts> {
  readonly id: number;
  readonly deliveryMs: number;
  readonly freezeMs: number;
  /** Ascending. */
  readonly productIds: readonly number[];
}

/** A slot as a version has stored it, open or not. Kept as read, because there may be 100,000. */
export interface StoredChange extends StoredSlot {
  /** Active and not full. */
  readonly isOpen: boolean;
}

/** The slots of one version; immutable. */
export interface StoredSlots {
  /** Ordered by delivery time, then id. */
  readonly slots: readonly StoredSlot[];
  /** In the same order. */
  readonly byProduct: ReadonlyMap<number, readonly StoredSlot[]>;
}

/** Identifies a version of the derived stores. */
export interface StoreVersion {
  /** Differs between versions with the same number, which a recovery can cause. */
  readonly id: string;
  readonly version: number;
  /** In epoch milliseconds. */
  readonly refreshedAt: number;
  /** The database's timeline when the version was built. Transaction ids are unique within a timeline. */
  readonly timeline: number;
  readonly snapshot: TransactionSnapshot;
}

/** One version of the derived stores in memory; immutable. */
export interface StoreContent extends StoreVersion, StoredSlots {}

/** Returns when a slot closes: at its freeze time or its delivery time, whichever is earlier. */
export const closesAtMs = ({ deliveryMs, freezeMs }: StoredSlot) => Math.min(deliveryMs, freezeMs);

/**
 * Applies changes to the slots of a version, without changing that version. Both versions share unchanged slots. A
 * version may have 100,000 slots, so the work runs in slices, one per iteration of the event loop, and calls run
 * between them. It does not take turns with long answers, because their callers wait for the version.
 *
 * @param changes at most one per slot, ordered by delivery time, then id.
 * @param fromMs drops slots that closed before this time: a history of years would fill the memory.
 */
export async function applyChanges(
  before: StoredSlots,
  changes: readonly StoredChange[],
  fromMs: number,
): Promise<StoredSlots> {
  const slice = new Slice();
  const applying = apply(slice, before, changes, fromMs);
  for (;;) {
    await nextIteration();
    slice.begin();
    const { done, value } = applying.next();
    if (done) return value;
  }
}

function* apply(
  slice: Slice,
  before: StoredSlots,
  changes: readonly StoredChange[],
  fromMs: number,
): Sliced<StoredSlots> {
  const changed = new Set<number>();
  const added: StoredSlot[] = [];
  /** The products whose lists change. */
  const affected = new Set<number>();
  for (const slot of changes) {
    changed.add(slot.id);
    if (slot.isOpen && closesAtMs(slot) > fromMs) {
      added.push(slot);
      yield* addAll(slice, affected, slot.productIds);
    }
    if (slice.isOverAfter(1)) yield;
  }

  const slots: StoredSlot[] = [];
  let next = 0;
  for (const slot of before.slots) {
    for (let head = added[next]; head !== undefined && isBefore(head, slot); head = added[next]) {
      slots.push(head);
      next += 1;
    }
    if (closesAtMs(slot) > fromMs && !changed.has(slot.id)) slots.push(slot);
    else yield* addAll(slice, affected, slot.productIds);
    if (slice.isOverAfter(1)) yield;
  }
  for (const slot of added.slice(next)) slots.push(slot);

  const byProduct = new Map<number, readonly StoredSlot[]>();
  for (const [productId, ofProduct] of before.byProduct) {
    if (!affected.has(productId)) byProduct.set(productId, ofProduct);
    if (slice.isOverAfter(1)) yield;
  }
  const rebuilt = new Map<number, StoredSlot[]>();
  for (const slot of slots) {
    for (const productId of slot.productIds) {
      if (slice.isOverAfter(1)) yield;
      if (!affected.has(productId)) continue;
      const ofProduct = rebuilt.get(productId);
      if (ofProduct === undefined) rebuilt.set(productId, [slot]);
      else ofProduct.push(slot);
    }
    if (slice.isOverAfter(1)) yield;
  }
  for (const [productId, ofProduct] of rebuilt) {
    byProduct.set(productId, ofProduct);
    if (slice.isOverAfter(1)) yield;
  }
  return { slots, byProduct };
}

function* addAll(slice: Slice, ids: Set<number>, added: readonly number[]): Sliced<void> {
  for (const id of added) {
    ids.add(id);
    if (slice.isOverAfter(1)) yield;
  }
}

function isBefore(left: StoredSlot, right: StoredSlot): boolean {
  return left.deliveryMs < right.deliveryMs || (left.deliveryMs === right.deliveryMs && left.id < right.id);
}

/** Whether a version includes a write. */
export function covers({ timeline, snapshot }: StoreVersion, request: StoreRequest): boolean {
  return timeline === request.timeline && sees(snapshot, request.transaction);
}

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
  is_active and not is_capacity_full as "isOpen", array_to_json(product_ids) as "productIds",
  capacity, window_minutes as "windowMinutes", booked`;

/** SQL of the slots that the stores leave out only because bookings had filled them, from `from` on. */
export const filledSlots = `stored_slots join slots on slots.id = slot_id
     where not slots.is_capacity_full and stored_slots.is_active and stored_slots.is_capacity_full
       and stored_slots.capacity is not null
       and least(delivery_ms, freeze_ms) > extract(epoch from statement_timestamp()) * 1000`;

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
