import { setImmediate as nextIteration } from 'node:timers/promises';
import { Slice, type Sliced } from '../../../shared/rpc/answers/slices.ts';
import { type StoreRequest, sees, type TransactionSnapshot } from './requests.ts';

/** A slot that was active and not full when its version was stored. Times are in epoch milliseconds. */
export interface StoredSlot {
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
  const addedByProduct = new Map<number, StoredSlot[]>();
  for (const slot of changes) {
    changed.add(slot.id);
    if (slice.isOverAfter(1)) yield;
    if (!slot.isOpen || closesAtMs(slot) <= fromMs) continue;
    added.push(slot);
    for (const productId of slot.productIds) {
      const ofProduct = addedByProduct.get(productId);
      if (ofProduct === undefined) addedByProduct.set(productId, [slot]);
      else ofProduct.push(slot);
      if (slice.isOverAfter(1)) yield;
    }
  }

  const stays = (slot: StoredSlot) => closesAtMs(slot) > fromMs && !changed.has(slot.id);
  const left = new Set<number>();
  for (const slot of before.slots) {
    if (slice.isOverAfter(1)) yield;
    if (stays(slot)) continue;
    for (const productId of slot.productIds) {
      left.add(productId);
      if (slice.isOverAfter(1)) yield;
    }
  }

  const slots = yield* merge(slice, before.slots, added, stays);
  const byProduct = new Map<number, readonly StoredSlot[]>();
  for (const [productId, old] of before.byProduct) {
    const ofProduct = addedByProduct.get(productId) ?? [];
    const isSame = ofProduct.length === 0 && !left.has(productId);
    const now = isSame ? old : yield* merge(slice, old, ofProduct, stays);
    if (now.length > 0) byProduct.set(productId, now);
    if (slice.isOverAfter(1)) yield;
  }
  for (const [productId, ofProduct] of addedByProduct) {
    if (!before.byProduct.has(productId)) byProduct.set(productId, ofProduct);
    if (slice.isOverAfter(1)) yield;
  }
  return { slots, byProduct };
}

/** Merges two ordered lists: the old slots that stay, and the added slots. */
function* merge(
  slice: Slice,
  old: readonly StoredSlot[],
  added: readonly StoredSlot[],
  stays: (slot: StoredSlot) => boolean,
): Sliced<StoredSlot[]> {
  const merged: StoredSlot[] = [];
  let next = 0;
  for (const slot of old) {
    for (let head = added[next]; head !== undefined && isBefore(head, slot); head = added[next]) {
      merged.push(head);
      next += 1;
    }
    if (stays(slot)) merged.push(slot);
    if (slice.isOverAfter(1)) yield;
  }
  return merged.concat(added.slice(next));
}

function isBefore(left: StoredSlot, right: StoredSlot): boolean {
  return left.deliveryMs < right.deliveryMs || (left.deliveryMs === right.deliveryMs && left.id < right.id);
}

/** Whether a version includes a write. */
export function covers({ timeline, snapshot }: StoreVersion, request: StoreRequest): boolean {
  return timeline === request.timeline && sees(snapshot, request.transaction);
}
