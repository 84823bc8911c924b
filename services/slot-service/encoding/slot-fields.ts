import type { JsonValue } from '@bufbuild/protobuf';
import { TimestampSchema } from '@bufbuild/protobuf/wkt';
import { ProductSummarySchema } from '../../../shared/gen/common/v1/product_pb.ts';
import { ProductSlotSchema, SlotSchema } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import type { FieldWriter } from '../../../shared/rpc/protobuf/field-writer.ts';
import { writeValue } from '../../../shared/rpc/protobuf/json-value.ts';
import type { ProductRow, SlotRow } from '../slots/slot.ts';

// The fields that responses with slots share, in protobuf's binary and JSON forms.

const slot = SlotSchema.field;
const productSlot = ProductSlotSchema.field;
const summary = ProductSummarySchema.field;
const timestamp = TimestampSchema.field;

/** Writes the fields that Slot, ListedSlot and SlotDetail have under the same numbers. */
export function writeSlotFields(writer: FieldWriter, row: SlotRow): void {
  writer.int32(slot.id.number, row.id);
  writeTimestamp(writer, slot.deliveryTime.number, row.deliveryTime);
  writeTimestamp(writer, slot.freezeTime.number, row.freezeTime);
  if (row.isActive) writer.bool(slot.isActive.number, true);
  if (row.isCapacityFull) writer.bool(slot.isCapacityFull.number, true);
  writer.int32s(slot.groupIds.number, row.groupIds);
}

/** Writes the fields of Slot, which ListedSlot has, too. */
export function writeSlot(writer: FieldWriter, row: SlotRow): void {
  writeSlotFields(writer, row);
  writer.message(slot.deliverySequence.number, () => writeValue(writer, sequenceOf(row)));
}

export function writeTimestamp(writer: FieldWriter, field: number, date: Date): void {
  const milliseconds = date.getTime();
  const seconds = Math.floor(milliseconds / 1000);
  const nanos = (milliseconds - seconds * 1000) * 1_000_000;
  writer.message(field, () => {
    writer.int64(timestamp.seconds.number, seconds);
    if (nanos > 0) writer.int32(timestamp.nanos.number, nanos);
  });
}

export function writeProduct(writer: FieldWriter, { id, name, images }: ProductRow): void {
  writer.int32(summary.id.number, id).string(summary.name.number, name);
  for (const image of images) writer.string(summary.images.number, image);
}

/** Writes the slot's id, the one field of a `ProductSlot` that differs between slots. */
export function writeSlotIdOf(writer: FieldWriter, { id }: Pick<SlotRow, 'id'>): void {
  writer.int32(productSlot.slotId.number, id);
}

/** Writes a `ProductSlot` without its slot's id. */
export function writeAssociation(writer: FieldWriter, productId: number, product: ProductRow | null | undefined): void {
  writer.int32(productSlot.productId.number, productId);
  if (product) writer.message(productSlot.product.number, () => writeProduct(writer, product));
}

export function slotFieldsToJson(row: SlotRow) {
  return {
    id: row.id,
    deliveryTime: timestampToJson(row.deliveryTime),
    freezeTime: timestampToJson(row.freezeTime),
    isActive: row.isActive,
    isCapacityFull: row.isCapacityFull,
    groupIds: row.groupIds,
  };
}

export function slotToJson(row: SlotRow) {
  return { ...slotFieldsToJson(row), deliverySequence: sequenceOf(row) };
}

/** A time as protobuf's JSON form has it: without a fraction of zero. */
export function timestampToJson(date: Date): string {
  return date.toISOString().replace('.000Z', 'Z');
}

const sequenceOf = ({ deliverySequence }: Pick<SlotRow, 'deliverySequence'>): JsonValue => deliverySequence ?? {};
