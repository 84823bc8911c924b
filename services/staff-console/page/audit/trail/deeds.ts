import type { AuditEntry } from '../../../../../shared/gen/audit/v1/audit_service_pb.ts';

/** The kinds of records that have an audit trail (design 10), each with its display name. */
export const kinds = {
  slot: 'slot',
  coupon: 'coupon',
  reserved_coupon: 'reserved coupon',
  user: 'user',
  redemption: 'redemption',
  coupon_batch: 'batch of coupons',
  booking: 'booking',
  product: 'product',
  product_group: 'product group',
  order: 'order',
  database: 'the database',
} as const;

/** A kind of record, by its name in the contract. */
export type Kind = keyof typeof kinds;

/** Whether a text is a kind of record. */
export function isKind(text: string): text is Kind {
  return Object.hasOwn(kinds, text);
}

/** Names a record, such as "slot 25". There is only one database. */
export function nameOfRecord({ resourceType, resourceId }: Pick<AuditEntry, 'resourceType' | 'resourceId'>): string {
  if (resourceType === 'database') return kinds.database;
  return `${isKind(resourceType) ? kinds[resourceType] : resourceType} ${resourceId}`;
}

type Words = string | ((entry: AuditEntry) => string);

/** Describes each procedure in general, and as applied to a record, whose name replaces the %. */
const deeds: Readonly<Record<string, readonly [general: string, ofRecord: Words]>> = {
  'slot.v1.SlotService/CreateSlot': ['Created a slot', 'created %'],
  'slot.v1.SlotService/UpdateSlot': ['Changed a slot', 'changed %'],
  'slot.v1.SlotService/UpdateSlotProducts': ['Changed the products of a slot', 'changed the products of %'],
  'slot.v1.SlotService/UpdateSlotCapacity': [
    'Marked a slot as full, or opened it again',
    ({ after }) => (after?.isCapacityFull === true ? 'marked % as full' : 'opened % again'),
  ],
  'slot.v1.SlotService/UpdateDeliverySequence': [
    'Changed the delivery sequence of a slot',
    'changed the delivery sequence of %',
  ],
  'slot.v1.SlotService/DeleteSlot': ['Deactivated a slot', 'deactivated %'],
  'slot.v1.SlotPlanService/CopySlots': ['Copied slots', 'created % as a copy'],
  'slot.v1.SlotPlanService/UpdateSlots': ['Changed many slots at once', describeField],
  'slot.v1.SlotBookingService/Book': ['Held or booked a slot for an order', describeBook],
  'slot.v1.SlotBookingService/Confirm': ['Confirmed a booking that was held', 'confirmed %'],
  'slot.v1.SlotBookingService/Release': ['Released a booking', 'released %'],
  'slot.v1.SlotBookingService/Move': ['Moved a booking to another slot', 'moved % to another slot'],
  'coupon.v1.CouponService/Create': ['Created a coupon', 'created %'],
  'coupon.v1.CouponService/Update': ['Changed a coupon', describeUpdate],
  'coupon.v1.CouponService/Delete': ['Invalidated a coupon', 'invalidated %'],
  'coupon.v1.CouponService/GenerateCancellationCoupon': ['Issued a refund coupon', 'issued refund %'],
  'coupon.v1.CouponService/CreateReservedCoupon': ['Created a reserved coupon', 'created %'],
  'coupon.v1.CouponService/CreateCoupon': [
    'Issued a coupon for a mobile number',
    ({ resourceType }) =>
      resourceType === 'user' ? 'registered %, for whom a coupon was issued' : 'issued % for a mobile number',
  ],
  'coupon.v1.RedemptionService/Redeem': ['Held or used a coupon for an order', describeRedeem],
  'coupon.v1.RedemptionService/Confirm': ['Used a coupon that was held', 'used the coupon held by %'],
  'coupon.v1.RedemptionService/Release': ['Released a redemption', 'released %'],
  'coupon.v1.RedemptionService/Claim': [
    'Claimed a reserved coupon for a user',
    ({ resourceType }) => (resourceType === 'coupon' ? 'created % from a reserved coupon' : 'claimed % for a user'),
  ],
  'coupon.v1.CouponBatchService/CreateBatch': ['Created a batch of coupons', 'created %'],
  'coupon.v1.CouponBatchService/InvalidateBatch': ['Ended a batch of coupons', 'ended %'],
  'catalog.v1.ImportService/ImportUsers': ['Imported users', describeImport],
  'catalog.v1.ImportService/ImportProducts': ['Imported products', describeImport],
  'catalog.v1.ImportService/ImportProductGroups': ['Imported product groups', describeImport],
  'catalog.v1.ImportService/ImportOrders': ['Imported orders', describeImport],
  recovered: ['Recovered the database', 'recovered % from a backup'],
};

/** The procedures that change records. */
export const mutations: readonly string[] = Object.keys(deeds).filter((procedure) => procedure !== 'recovered');

/** Describes a procedure in general, such as "Created a slot". */
export function describeMutation(procedure: string): string {
  return deeds[procedure]?.[0] ?? procedure;
}

/** Describes what was done to a record, such as "marked % as full". The record's name replaces the %. */
export function describeDeed(entry: AuditEntry): string {
  const words = deeds[entry.procedure]?.[1] ?? 'changed %';
  return typeof words === 'string' ? words : words(entry);
}

function describeField({ before, after }: AuditEntry): string {
  if (after?.capacity !== undefined) return 'set the capacity of %';
  if (before?.capacity !== undefined) return 'removed the capacity of %';
  if (after?.isActive !== undefined) return after.isActive === true ? 'activated %' : 'deactivated %';
  return after?.isCapacityFull === true ? 'marked % as full' : 'opened % again';
}

function describeBook({ before, after }: AuditEntry): string {
  if (after?.state === 'SLOT_BOOKING_STATE_BOOKED') return 'booked a slot by %';
  return before === undefined ? 'held a slot by %' : 'changed %';
}

function describeImport({ before }: AuditEntry): string {
  return before === undefined ? 'imported %' : 'changed % by an import';
}

function describeRedeem({ before, after }: AuditEntry): string {
  if (after?.state === 'REDEMPTION_STATE_USED') return 'used a coupon by %';
  return before === undefined ? 'held a coupon by %' : 'held the coupon of % anew';
}

function describeUpdate({ after }: AuditEntry): string {
  const isOnlyField = Object.keys(after ?? {}).length === 1;
  if (isOnlyField && after?.isInvalidated === true) return 'invalidated %';
  if (isOnlyField && after?.isInvalidated === false) return 'made % valid again';
  return 'changed %';
}
