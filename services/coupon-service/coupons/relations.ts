import type { ProductSummarySchema } from '../../../shared/gen/common/v1/product_pb.ts';
import type { UserSchema } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import type { Answer } from '../../../shared/rpc/answers/answer.ts';
import { shownList } from '../../../shared/rpc/answers/shown.ts';

// The records that coupons refer to, with only the columns that the spec names (2.6, design 5).

// Tuples, because PostgreSQL writes JSON without column names in half the time. A coupon may have 100,000 of them.
export type UserTuple = [id: number, name: string | null, email: string | null, mobile: string];
export type ProductTuple = [id: number, name: string, images: string[]];

/** SQL of a `UserTuple` and a `ProductTuple` as JSON. */
export const userJson = 'json_build_array(users.id, users.name, users.email, users.mobile)';
export const productJson = 'json_build_array(products.id, products.name, products.images)';

/** Converts a user to a `User`. Null becomes an absent field. */
export function toUser([id, name, email, mobile]: UserTuple) {
  return { id, name: name ?? undefined, email: email ?? undefined, mobile } satisfies Answer<typeof UserSchema>;
}

/** Converts a product to a `ProductSummary`. */
export function toProduct([id, name, images]: ProductTuple) {
  return { id, name, images: shownList(images) } satisfies Answer<typeof ProductSummarySchema>;
}
