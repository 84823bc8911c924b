import type { MessageInitShape } from '@bufbuild/protobuf';
import type { UserSchema } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';

// The records that coupons are related to, each with only the columns that the spec names (2.6, design 5).

export interface StaffUserRow {
  id: number;
  name: string;
}

export interface UserRow {
  id: number;
  name: string | null;
  email: string | null;
  mobile: string;
}

export interface ProductRow {
  id: number;
  name: string;
  images: string[];
}

/** SQL of a `StaffUserRow`, a `UserRow` and a `ProductRow` as JSON. */
export const creatorJson = `jsonb_build_object('id', staff_users.id, 'name', staff_users.name)`;
export const userJson = `jsonb_build_object(
  'id', users.id, 'name', users.name, 'email', users.email, 'mobile', users.mobile)`;
export const productJson = `jsonb_build_object(
  'id', products.id, 'name', products.name, 'images', products.images)`;

/** A user as a `User`: null is an absent field. */
export function toUser({ id, name, email, mobile }: UserRow) {
  return { id, name: name ?? undefined, email: email ?? undefined, mobile } satisfies MessageInitShape<
    typeof UserSchema
  >;
}
