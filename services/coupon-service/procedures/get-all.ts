import type { Queryable } from '../../../shared/db/transaction.ts';
import {
  CouponApplicableProductSchema,
  CouponApplicableUserSchema,
  type CouponService,
  GetAllResponseSchema,
  ListedCouponSchema,
} from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { LongResponse, longList, longMessage } from '../../../shared/rpc/protobuf/long-message.ts';
import { shareResponse } from '../../../shared/rpc/protobuf/shared-response.ts';
import { type CouponRow, couponColumnsWith, toCoupon } from '../coupons/coupon.ts';
import { type ProductTuple, productJson, toProduct, toUser, type UserTuple, userJson } from '../coupons/relations.ts';
import { type Link, Listing } from '../listing/listing.ts';
import { firstPage, isFirstPage, type PageRequest, type PlacedRow } from '../listing/paging.ts';
import type { CouponParts } from '../parts.ts';

/**
 * Spec 4.2, getAll: lists coupons with their creators and links, latest first. Throws INVALID_ARGUMENT for a page token
 * that belongs to another search.
 */
export function getAll({ database }: CouponParts): Handler<typeof CouponService.method.getAll> {
  const readFirst = shareResponse(database, (db) => readPage(db, firstPage));
  return (request, call) => (isFirstPage(request) ? readFirst(call) : readPage(database.for(call), request));
}

async function readPage(db: Queryable, request: PageRequest) {
  const { rows, ...next } = await listing.read(db, request);
  const coupons = longList(GetAllResponseSchema.field.coupons, rows, toListedCoupon);
  return new LongResponse(longMessage(GetAllResponseSchema, next, [coupons]));
}

interface ListedCouponRow extends CouponRow, PlacedRow {
  creatorName: string;
  productIdsCount: number;
  applicableUsers: Link<UserTuple>[] | null;
  applicableUsersCount: number;
  applicableProducts: Link<ProductTuple>[] | null;
  applicableProductsCount: number;
}

function toListedCoupon(row: ListedCouponRow) {
  const { id: couponId, createdBy, creatorName, applicableUsers, applicableProducts } = row;
  const { productIdsCount, applicableUsersCount, applicableProductsCount } = row;
  const counts = { productIdsCount, applicableUsersCount, applicableProductsCount };
  const creator = { id: createdBy, name: creatorName };
  return longMessage(ListedCouponSchema, { ...toCoupon(row), ...counts, creator }, [
    longList(ListedCouponSchema.field.applicableUsers, applicableUsers ?? [], ([id, user]) =>
      longMessage(CouponApplicableUserSchema, { id, couponId, userId: user[0], user: toUser(user) }),
    ),
    longList(ListedCouponSchema.field.applicableProducts, applicableProducts ?? [], ([id, product]) =>
      longMessage(CouponApplicableProductSchema, { id, couponId, productId: product[0], product: toProduct(product) }),
    ),
  ]);
}

const listing = new Listing<ListedCouponRow>(
  'coupons',
  'getAll',
  {
    table: 'coupons',
    columns: ['coupon_code'],
    indexed: 'coupon_code',
    links: [
      {
        column: 'applicableUsers',
        table: 'coupon_applicable_users',
        owner: 'coupon_id',
        target: 'user_id',
        related: 'users',
        shown: userJson,
      },
      {
        column: 'applicableProducts',
        table: 'coupon_applicable_products',
        owner: 'coupon_id',
        target: 'product_id',
        related: 'products',
        shown: productJson,
      },
    ],
  },
  {
    columns: (productIds) => `${couponColumnsWith(productIds)}, staff_users.name as "creatorName"`,
    joined: 'join staff_users on staff_users.id = coupons.created_by',
  },
);
