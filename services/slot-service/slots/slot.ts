import { create, fromJson, type JsonValue, type MessageInitShape } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { ProductSummarySchema } from '../../../shared/gen/common/v1/product_pb.ts';
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

/** A product as slots show it (spec 2.1). */
export interface ProductRow {
  id: number;
  name: string;
  images: string[];
}

// As JSON, an array is read in a fraction of the time.
/** SQL of the columns of `SlotRow`. */
export const slotColumns = `
  slots.id, slots.delivery_time as "deliveryTime", slots.freeze_time as "freezeTime",
  slots.is_active as "isActive", slots.is_capacity_full as "isCapacityFull",
  to_json(slots.group_ids) as "groupIds", slots.delivery_sequence as "deliverySequence", slots.etag`;

/** SQL of the fields of a slot that writes replace, but for its lists, as its audit entries show them. `slots` is the row. */
export const slotFields = (slots: string) => `
  'deliveryTime', api_time(${slots}.delivery_time), 'freezeTime', api_time(${slots}.freeze_time),
  'isActive', ${slots}.is_active`;

/** The record as a `ProductSummary`. */
export const toProduct = ({ images, ...product }: ProductRow) =>
  create(ProductSummarySchema, { ...product, images: shownList(images) });

/** The record as a `Slot`; its delivery sequence is an empty object when unset. */
export function toSlot(slot: SlotRow) {
  const deliverySequence = fromJson(ValueSchema, slot.deliverySequence ?? {});
  return { ...toSlotFields(slot), deliverySequence } satisfies MessageInitShape<typeof SlotSchema>;
}

/** The fields that `Slot`, `ListedSlot` and `SlotDetail` show alike. */
export function toSlotFields(slot: Omit<SlotRow, 'deliverySequence'>) {
  return {
    id: slot.id,
    deliveryTime: shownTime(slot.deliveryTime),
    freezeTime: shownTime(slot.freezeTime),
    isActive: slot.isActive,
    isCapacityFull: slot.isCapacityFull,
    groupIds: shownList(slot.groupIds),
    etag: slot.etag,
  } satisfies MessageInitShape<typeof SlotSchema>;
}
