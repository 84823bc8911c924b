import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { CreateRequestSchema } from '../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { CreateSlotRequestSchema } from '../../shared/gen/slot/v1/slot_service_pb.ts';

/** A slot with 20 products and a snippet for each of the names. */
export function slotToCreate(snippetNames: readonly string[]) {
  return create(CreateSlotRequestSchema, {
    deliveryTime: '2099-03-01T10:00:00Z',
    freezeTime: '2099-03-01T06:00:00Z',
    productIds: numbers(20),
    vendorSnippets: snippetNames.map((name) => ({ name, productIds: [1, 2, 3] })),
    groupIds: [1, 2],
  });
}

/** The percentage tells the written coupons from the loaded ones. */
export const writtenPercent = 12.5;

/** A coupon whose code the service makes up. */
export function couponToCreate() {
  return create(CreateRequestSchema, {
    coupon: { discountPercent: writtenPercent, minOrder: 100, maxValue: 500, isApplyForAll: true },
  } satisfies MessageInitShape<typeof CreateRequestSchema>);
}

/** 1 to `count`. */
export function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, at) => at + 1);
}
