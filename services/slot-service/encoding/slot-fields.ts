import type { DescField } from '@bufbuild/protobuf';
import { ProductSummarySchema } from '../../../shared/gen/common/v1/product_pb.ts';
import { ProductSlotSchema, SlotSchema } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import type { FieldWriter } from '../../../shared/rpc/protobuf/field-writer.ts';
import { writeValue } from '../../../shared/rpc/protobuf/json-value.ts';
import { writeTimestamp } from '../../../shared/rpc/protobuf/timestamp.ts';
import type { ProductRow, SlotTextRow } from '../slots/slot.ts';

// The fields that responses with slots share, in protobuf's binary and JSON forms.

const slot = SlotSchema.field;
const productSlot = ProductSlotSchema.field;
const summary = ProductSummarySchema.field;

/** Writes the fields that Slot, ListedSlot and SlotDetail have under the same numbers, and their etag. */
export function writeSlotFields(writer: FieldWriter, row: SlotTextRow, etag: DescField): void {
  writer.int32(slot.id.number, row.id);
  if (isShown(row.deliveryTime)) writeTimestamp(writer, slot.deliveryTime.number, Date.parse(toIso(row.deliveryTime)));
  if (isShown(row.freezeTime)) writeTimestamp(writer, slot.freezeTime.number, Date.parse(toIso(row.freezeTime)));
  if (row.isActive) writer.bool(slot.isActive.number, true);
  if (row.isCapacityFull) writer.bool(slot.isCapacityFull.number, true);
  if (groupIdsOf(row) !== '') writer.int32s(slot.groupIds.number, groupIdsOf(row).split(',').map(Number));
  writer.string(etag.number, row.etag);
}

/** Writes the fields of Slot, which ListedSlot has, too. */
export function writeSlot(writer: FieldWriter, row: SlotTextRow, etag: DescField): void {
  writeSlotFields(writer, row, etag);
  writer.message(slot.deliverySequence.number, () => writeValue(writer, JSON.parse(sequenceOf(row))));
}

export function writeProduct(writer: FieldWriter, { id, name, images }: ProductRow): void {
  writer.int32(summary.id.number, id).string(summary.name.number, name);
  for (const image of images) writer.string(summary.images.number, image);
}

/** Writes the slot's id, the one field of a `ProductSlot` that differs between slots. */
export function writeSlotIdOf(writer: FieldWriter, { id }: Pick<SlotTextRow, 'id'>): void {
  writer.int32(productSlot.slotId.number, id);
}

/** Writes a `ProductSlot` without its slot's id. */
export function writeAssociation(writer: FieldWriter, productId: number, product: ProductRow | null | undefined): void {
  writer.int32(productSlot.productId.number, productId);
  if (product) writer.message(productSlot.product.number, () => writeProduct(writer, product));
}

/** The fields of an object in JSON, without its braces, which Slot, ListedSlot and SlotDetail have. */
export function slotFieldsToJson(row: SlotTextRow): string {
  return (
    `"id":${row.id},${timeToJson('deliveryTime', row.deliveryTime)}${timeToJson('freezeTime', row.freezeTime)}` +
    `"isActive":${row.isActive},"isCapacityFull":${row.isCapacityFull},"groupIds":[${groupIdsOf(row)}],` +
    `"etag":"${row.etag}"`
  );
}

/** The fields of Slot in JSON, without its braces. */
export function slotToJson(row: SlotTextRow): string {
  return `${slotFieldsToJson(row)},"deliverySequence":${sequenceOf(row)}`;
}

/** A field with a time, and the comma after it; empty for a time that can't be shown. */
const timeToJson = (name: string, time: string) => (isShown(time) ? `"${name}":"${toIso(time)}",` : '');

/** Whether a time of PostgreSQL is within the years 1 to 9999, and not infinite. */
const isShown = (time: string) => time[4] === '-' && !time.endsWith('BC');

/** The group ids, with commas between them, without what is none in an odd array: nulls and bounds, such as `[0:1]={7,NULL}`. */
function groupIdsOf({ groupIds }: SlotTextRow): string {
  if (/^\{[\d,-]*\}$/.test(groupIds)) return groupIds.slice(1, -1);
  return (groupIds.replace(/^.*=/, '').match(/-?\d+/g) ?? []).join();
}

/** A time of PostgreSQL as protobuf's JSON form has it: to the millisecond, without a fraction of zero. */
function toIso(time: string): string {
  const seconds = `${time.slice(0, 10)}T${time.slice(11, 19)}`;
  const milliseconds = time.slice(20, 23).padEnd(3, '0');
  return milliseconds === '000' ? `${seconds}Z` : `${seconds}.${milliseconds}Z`;
}

const sequenceOf = ({ deliverySequence }: SlotTextRow) => (deliverySequence === 'null' ? '{}' : deliverySequence);
