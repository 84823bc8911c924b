import { fail } from '../../../shared/errors/errors.ts';
import type { ProductSummarySchema } from '../../../shared/gen/common/v1/product_pb.ts';
import type { CreateSlotRequest, SlotSchema, UpdateSlotRequest } from '../../../shared/gen/slot/v1/slot_service_pb.ts';
import { type Answer, JsonText, jsonTimeText } from '../../../shared/rpc/answers/answer.ts';
import { requiredDate } from '../../../shared/rpc/dates.ts';
import { slotErrors } from '../errors.ts';
import { bookedUnits } from './capacity.ts';

/**
 * The slot record (spec 2.1). Times and the sequence are texts, because a list of rows lives until it is encoded, and
 * collecting Dates and parsed sequences would take longer than encoding.
 */
export interface SlotRow extends SlotCounts {
  id: number;
  /** JSON of a `timestamp` in UTC. */
  deliveryTime: string;
  freezeTime: string;
  isActive: boolean;
  isCapacityFull: boolean;
  groupIds: number[];
  /** As JSON; null when unset. */
  deliverySequence: string | null;
  etag: string;
}

/** The numbers of a slot: how much it takes, and how long its deliveries last (design 15). */
export interface SlotCounts {
  capacity: number | null;
  windowMinutes: number | null;
  /** The units of its live bookings; null without a capacity. */
  booked: number | null;
}

/** The product fields that slots show (spec 2.1). */
export interface ProductRow {
  id: number;
  name: string;
  images: string[];
}

/**
 * SQL of the columns of `SlotRow` without the sequence, which may be long. Arrays are read as JSON, which takes a
 * fraction of the time.
 */
export const shortSlotColumns = `
  slots.id, to_json(slots.delivery_time at time zone 'UTC')::text as "deliveryTime",
  to_json(slots.freeze_time at time zone 'UTC')::text as "freezeTime",
  slots.is_active as "isActive", slots.is_capacity_full as "isCapacityFull",
  to_json(slots.group_ids) as "groupIds", slots.etag, slots.capacity, slots.window_minutes as "windowMinutes",
  ${bookedUnits} as booked`;

/** SQL of the columns of `SlotRow`. */
export const slotColumns = `${shortSlotColumns}, slots.delivery_sequence::text as "deliverySequence"`;

/** SQL of the columns that createSlot and updateSlot write, except the id lists. */
export const slotFieldColumns = 'delivery_time, freeze_time, is_active, capacity, window_minutes';

/**
 * SQL of these columns' values, from the parameters that `readSlotFields` returns. A 0 becomes null.
 *
 * @param kept SQL of the row that keeps its values where a parameter is null.
 */
export const slotFieldValues = (kept?: string) => {
  const counted = (param: string, column: string) =>
    `nullif(${kept === undefined ? param : `coalesce(${param}, ${kept}.${column})`}, 0)`;
  return `$deliveryTime::timestamptz, $freezeTime::timestamptz, $isActive::boolean,
     ${counted('$capacity::integer', 'capacity')}, ${counted('$windowMinutes::integer', 'window_minutes')}`;
};

/** Returns SQL of the same fields for audit entries. `slots` names the row. */
export const slotFieldsEntry = (slots: string) => `
  'deliveryTime', api_time(${slots}.delivery_time), 'freezeTime', api_time(${slots}.freeze_time),
  'isActive', ${slots}.is_active, 'capacity', ${slots}.capacity, 'windowMinutes', ${slots}.window_minutes`;

export interface SlotFields {
  readonly deliveryTime: Date;
  readonly freezeTime: Date;
  readonly isActive: boolean;
  readonly capacity: number | undefined;
  readonly windowMinutes: number | undefined;
}

/**
 * Reads the same fields from a request. An omitted active flag becomes true. Throws INVALID_ARGUMENT for times that are
 * empty or not dates (spec 7).
 */
export function readSlotFields(request: CreateSlotRequest | UpdateSlotRequest): SlotFields {
  const { deliveryTime, freezeTime, isActive = true, capacity, windowMinutes } = request;
  if (deliveryTime === '' || freezeTime === '') {
    const field = deliveryTime === '' ? 'delivery_time' : 'freeze_time';
    throw fail(slotErrors.timesRequired, { violations: [{ field, description: 'is required' }] });
  }
  return {
    deliveryTime: requiredDate('delivery_time', deliveryTime),
    freezeTime: requiredDate('freeze_time', freezeTime),
    ...{ isActive, capacity, windowMinutes },
  };
}

/** Converts a record to a `ProductSummary`. */
export function toProduct({ id, name, images }: ProductRow) {
  return { id, name, images: images } satisfies Answer<typeof ProductSummarySchema>;
}

/** Returns the stored delivery sequence as JSON; an empty object when it is unset. */
export function sequenceText({ deliverySequence }: Pick<SlotRow, 'deliverySequence'>): string {
  return deliverySequence === null || deliverySequence === 'null' ? '{}' : deliverySequence;
}

/** Returns the numbers as messages have them, with undefined for null. */
export function toCounts({ capacity, windowMinutes, booked }: Partial<SlotCounts>) {
  return { capacity: capacity ?? undefined, windowMinutes: windowMinutes ?? undefined, booked: booked ?? undefined };
}

/** Converts a record to a `Slot`. `ListedSlot` has the same fields. An unset delivery sequence becomes `{}`. */
export function toSlot(slot: SlotRow) {
  return {
    ...slot,
    deliveryTime: jsonTimeText(slot.deliveryTime),
    freezeTime: jsonTimeText(slot.freezeTime),
    ...toCounts(slot),
    deliverySequence: new JsonText(sequenceText(slot)),
  } satisfies Answer<typeof SlotSchema>;
}
