import { setImmediate as nextIteration } from 'node:timers/promises';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { Batch } from '../../../shared/rpc/protobuf/turns.ts';
import { type StoreRequest, sees, type TransactionSnapshot } from './requests.ts';

/** A slot that was active and not full when its version was stored. Times are in epoch milliseconds. */
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

/** When a slot is no longer open, whatever becomes of it: from its freeze time on, or from its delivery time on. */
export const closesAtMs = ({ deliveryMs, freezeMs }: StoredSlot) => Math.min(deliveryMs, freezeMs);

/**
 * Applies changes to the slots of a version, which stays as it is. It runs in batches, one an iteration of the event loop, between
 * which calls run: a version may have 100,000 slots. It takes no turns with long answers, because their callers wait for the
 * version. What is not changed is shared by both versions, also each slot's encoded form.
 *
 * @param changes ordered by delivery time, then id; one a slot.
 * @param fromMs slots that closed before are left out: a history of years would fill the memory.
 */
export async function applyChanges(
  before: StoredSlots,
  changes: readonly StoredChange[],
  fromMs: number,
): Promise<StoredSlots> {
  const batch = new Batch();
  const applying = apply(batch, before, changes, fromMs);
  for (;;) {
    await nextIteration();
    batch.begin();
    const { done, value } = applying.next();
    if (done) return value;
  }
}

type InBatches<Result> = Generator<undefined, Result>;

function* apply(
  batch: Batch,
  before: StoredSlots,
  changes: readonly StoredChange[],
  fromMs: number,
): InBatches<StoredSlots> {
  const changed = new Set<number>();
  const added: StoredSlot[] = [];
  const addedByProduct = new Map<number, StoredSlot[]>();
  for (const slot of changes) {
    changed.add(slot.id);
    if (batch.isOverAfter(1)) yield;
    if (!slot.isOpen || closesAtMs(slot) <= fromMs) continue;
    added.push(slot);
    for (const productId of slot.productIds) {
      const ofProduct = addedByProduct.get(productId);
      if (ofProduct === undefined) addedByProduct.set(productId, [slot]);
      else ofProduct.push(slot);
      if (batch.isOverAfter(1)) yield;
    }
  }

  const stays = (slot: StoredSlot) => closesAtMs(slot) > fromMs && !changed.has(slot.id);
  const left = new Set<number>();
  for (const slot of before.slots) {
    if (batch.isOverAfter(1)) yield;
    if (stays(slot)) continue;
    for (const productId of slot.productIds) {
      left.add(productId);
      if (batch.isOverAfter(1)) yield;
    }
  }

  const slots = yield* merge(batch, before.slots, added, stays);
  const byProduct = new Map<number, readonly StoredSlot[]>();
  for (const [productId, old] of before.byProduct) {
    const ofProduct = addedByProduct.get(productId) ?? [];
    const isSame = ofProduct.length === 0 && !left.has(productId);
    const now = isSame ? old : yield* merge(batch, old, ofProduct, stays);
    if (now.length > 0) byProduct.set(productId, now);
    if (batch.isOverAfter(1)) yield;
  }
  for (const [productId, ofProduct] of addedByProduct) {
    if (!before.byProduct.has(productId)) byProduct.set(productId, ofProduct);
    if (batch.isOverAfter(1)) yield;
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
