import type { ProductSummarySchema } from '../../../shared/gen/common/v1/product_pb.ts';
import type { UserSchema } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import type { Answer } from '../../../shared/rpc/answers/answer.ts';

// The records that coupons refer to, with only the columns that the spec names (2.6, design 5). Other systems delete
// them. What refers to one that is gone shows its id alone (design 14).

// Tuples, because PostgreSQL writes JSON without column names in half the time. A coupon may have 100,000 of them.
export type UserTuple = [id: number, name: string | null, email: string | null, mobile: string | null];
export type ProductTuple = [id: number, name: string | null, images: string[] | null];

/** Returns SQL of a `UserTuple` and of a `ProductTuple` as JSON. `id` is SQL of the id that refers to the record. */
export const userJson = (id: string) => `json_build_array(${id}, users.name, users.email, users.mobile)`;
export const productJson = (id: string) => `json_build_array(${id}, products.name, products.images)`;

/** Converts a user to a `User`. Null becomes an absent field. */
export function toUser([id, name, email, mobile]: UserTuple) {
  const fields = { id, name: name ?? undefined, email: email ?? undefined, mobile: mobile ?? '' };
  return fields satisfies Answer<typeof UserSchema>;
}

/** Converts a product to a `ProductSummary`. */
export function toProduct([id, name, images]: ProductTuple) {
  return { id, name: name ?? '', images: images ?? [] } satisfies Answer<typeof ProductSummarySchema>;
}
