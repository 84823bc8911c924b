import { fromJson, type JsonValue, type MessageInitShape } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import type { SlotSchema } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { shownList, shownTime } from '../../../shared/rpc/protobuf/shown.ts';

/** The slot record (spec 2.1). */
export interface SlotRow {
  id: number;
  deliveryTime: Date;
  freezeTime: Date;
  isActive: boolean;
  isCapacityFull: boolean;
  groupIds: number[];
  /** null when unset. */
  deliverySequence: JsonValue;
  etag: string;
}

/** An association, with the product when it exists (spec 2.2). */
export interface ProductSlotRow {
  slotId: number;
  productId: number;
  product: ProductRow | null;
}

/** A product as slots show it (spec 2.1). */
export interface ProductRow {
  id: number;
  name: string;
  images: string[];
}

/** SQL of the columns of `SlotRow`. */
export const slotColumns = `
  slots.id, slots.delivery_time as "deliveryTime", slots.freeze_time as "freezeTime",
  slots.is_active as "isActive", slots.is_capacity_full as "isCapacityFull",
  slots.group_ids as "groupIds", slots.delivery_sequence as "deliverySequence", slots.etag`;

/** A slot as PostgreSQL writes it. An answer is written from it, without parsing what it only copies. */
export interface SlotTextRow {
  id: number;
  /** In UTC, such as `2026-02-28 10:00:00`, with a fraction where there is one. */
  deliveryTime: string;
  freezeTime: string;
  isActive: boolean;
  isCapacityFull: boolean;
  /** Such as `{1,2}`. */
  groupIds: string;
  /** JSON. */
  deliverySequence: string;
  etag: string;
}

/** SQL of the columns of `SlotTextRow`. */
export const slotTextColumns = `
  slots.id, (slots.delivery_time at time zone 'UTC')::text as "deliveryTime",
  (slots.freeze_time at time zone 'UTC')::text as "freezeTime",
  slots.is_active as "isActive", slots.is_capacity_full as "isCapacityFull",
  slots.group_ids::text as "groupIds", slots.delivery_sequence::text as "deliverySequence", slots.etag`;

/** SQL of the fields of a slot that writes replace, but for its lists, as its audit entries show them. `slots` is the row. */
export const slotFields = (slots: string) => `
  'deliveryTime', api_time(${slots}.delivery_time), 'freezeTime', api_time(${slots}.freeze_time),
  'isActive', ${slots}.is_active`;

/** The record as a `Slot`; its delivery sequence is an empty object when unset. */
export function toSlot(slot: SlotRow) {
  return {
    id: slot.id,
    deliveryTime: shownTime(slot.deliveryTime),
    freezeTime: shownTime(slot.freezeTime),
    isActive: slot.isActive,
    isCapacityFull: slot.isCapacityFull,
    groupIds: shownList(slot.groupIds),
    deliverySequence: fromJson(ValueSchema, slot.deliverySequence ?? {}),
    etag: slot.etag,
  } satisfies MessageInitShape<typeof SlotSchema>;
}
