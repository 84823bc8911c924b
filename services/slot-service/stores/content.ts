import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { Batch, inTurns } from '../../../shared/rpc/protobuf/turns.ts';
import type { StoreRequest } from './requests.ts';
import { sees, type TransactionSnapshot } from './snapshot.ts';

/** A slot that was active, not full, and before its freeze time when its version was loaded. Times are in epoch milliseconds. */
export interface StoredSlot {
  readonly id: number;
  readonly deliveryMs: number;
  readonly freezeMs: number;
  /** Ascending. */
  readonly productIds: readonly number[];
}

/** A slot as a version has stored it, open or not. It is kept as it was read: there may be 100,000. */
export interface StoredChange extends StoredSlot {
  /** Active and not full. */
  readonly isOpen: boolean;
}

/** The slots of a version, which is immutable. */
export interface StoredSlots {
  /** Ordered by delivery time, then id. */
  readonly slots: readonly StoredSlot[];
  /** In the same order. */
  readonly byProduct: ReadonlyMap<number, readonly StoredSlot[]>;
}

/** What tells one version of the derived stores from others. */
export interface StoreVersion {
  /** Differs between two versions that have the same number, as after a recovery. */
  readonly id: string;
  readonly version: number;
  readonly refreshedAt: Timestamp;
  /** The database's timeline when it was built: transaction ids are unique within a timeline. */
  readonly timeline: number;
  readonly snapshot: TransactionSnapshot;
}

/** One version of the derived stores in memory. It is immutable. */
export interface StoreContent extends StoreVersion, StoredSlots {}

/**
 * Applies changes to the slots of a version, which stays as it is. It runs in batches, between which calls run: a version
 * may have 100,000 slots. What is not changed is shared by both, also each slot's encoded form. Slots whose freeze time has passed
 * are left out, because only another change can open them again.
 *
 * @param changes ordered by delivery time, then id; one a slot.
 */
export function applyChanges(before: StoredSlots, changes: readonly StoredChange[]): Promise<StoredSlots> {
  const batch = new Batch();
  const applying = apply(batch, before, changes, Date.now());
  return inTurns({}, () => {
    batch.begin();
    const { done, value } = applying.next();
    return done ? value : undefined;
  });
}

type InBatches<Result> = Generator<undefined, Result>;

function* apply(
  batch: Batch,
  before: StoredSlots,
  changes: readonly StoredChange[],
  nowMs: number,
): InBatches<StoredSlots> {
  const changed = new Set<number>();
  const added: StoredSlot[] = [];
  const addedByProduct = new Map<number, StoredSlot[]>();
  for (const slot of changes) {
    changed.add(slot.id);
    if (slot.isOpen && slot.freezeMs > nowMs) {
      added.push(slot);
      for (const productId of slot.productIds) {
        const ofProduct = addedByProduct.get(productId);
        if (ofProduct === undefined) addedByProduct.set(productId, [slot]);
        else ofProduct.push(slot);
      }
    }
    if (batch.isOverAfter(1 + slot.productIds.length)) yield;
  }

  const stays = ({ id, freezeMs }: StoredSlot) => freezeMs > nowMs && !changed.has(id);
  const touched = new Set(addedByProduct.keys());
  for (const slot of before.slots) {
    const leaves = !stays(slot);
    if (leaves) for (const productId of slot.productIds) touched.add(productId);
    if (batch.isOverAfter(leaves ? 1 + slot.productIds.length : 1)) yield;
  }

  const slots = yield* merge(batch, before.slots, added, stays);
  const byProduct = new Map<number, readonly StoredSlot[]>();
  for (const [productId, ofProduct] of before.byProduct) {
    if (!touched.has(productId)) byProduct.set(productId, ofProduct);
    if (batch.isOverAfter(1)) yield;
  }
  for (const productId of touched) {
    const old = before.byProduct.get(productId) ?? [];
    const ofProduct = yield* merge(batch, old, addedByProduct.get(productId) ?? [], stays);
    if (ofProduct.length > 0) byProduct.set(productId, ofProduct);
  }
  return { slots, byProduct };
}

/** Merges those of the old slots that stay with the added ones, both of which are in order. */
function* merge(
  batch: Batch,
  old: readonly StoredSlot[],
  added: readonly StoredSlot[],
  stays: (slot: StoredSlot) => boolean,
): InBatches<StoredSlot[]> {
  const merged: StoredSlot[] = [];
  let next = 0;
  for (const slot of old) {
    for (let head = added[next]; head !== undefined && isBefore(head, slot); head = added[next]) {
      merged.push(head);
      next += 1;
    }
    if (stays(slot)) merged.push(slot);
    if (batch.isOverAfter(1)) yield;
  }
  return merged.concat(added.slice(next));
}

function isBefore(left: StoredSlot, right: StoredSlot): boolean {
  return left.deliveryMs < right.deliveryMs || (left.deliveryMs === right.deliveryMs && left.id < right.id);
}

/** Whether a version shows a write. */
export function covers({ timeline, snapshot }: StoreVersion, request: StoreRequest): boolean {
  return timeline === request.timeline && sees(snapshot, request.transaction);
}
