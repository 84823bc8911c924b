import type { Queryable } from '../../../shared/db/statement.ts';
import { type CouponService, GetAllResponseSchema } from '../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { mapped } from '../../../shared/rpc/answers/answer.ts';
import { shareResponse } from '../../../shared/rpc/answers/share-response.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { type CouponRow, couponColumnsWith, toCoupon } from '../coupons/coupon.ts';
import { type ProductTuple, productJson, toProduct, toUser, type UserTuple, userJson } from '../coupons/relations.ts';
import { type Link, Listing } from '../listing/listing.ts';
import { firstPage, isFirstPage, type PageRequest, type PlacedRow } from '../listing/paging.ts';
import type { CouponParts } from '../parts.ts';

/**
 * Spec 4.2, getAll: lists coupons, or those for a user or of a batch, with their creators and links, latest first.
 * Throws INVALID_ARGUMENT for a page token that belongs to another search or filter.
 */
export function getAll({ database }: CouponParts): Handler<typeof CouponService.method.getAll> {
  const readFirst = shareResponse(database, GetAllResponseSchema, (db) => readPage(db, firstPage));
  return (request, call) => (isFirstPage(request) ? readFirst(call) : readPage(database.for(call), request));
}

async function readPage(db: Queryable, request: PageRequest) {
  const { rows, ...next } = await listing.read(db, request);
  return { ...next, coupons: mapped(rows, toListedCoupon) };
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
  return {
    ...toCoupon(row),
    ...{ productIdsCount, applicableUsersCount, applicableProductsCount },
    creator: { id: createdBy, name: creatorName },
    applicableUsers: mapped(applicableUsers ?? [], ([id, userId, user]) => {
      return { id, couponId, userId, user: user === null ? undefined : toUser(user) };
    }),
    applicableProducts: mapped(applicableProducts ?? [], ([id, productId, product]) => {
      return { id, couponId, productId, product: product === null ? undefined : toProduct(product) };
    }),
  };
}

/** SQL of the number of links that triggers keep (migration 0026). */
const countOf = (kind: 'users' | 'products') =>
  `(select count from coupon_link_counts where coupon_id = coupons.id and kind = '${kind}')`;

const listing = new Listing<ListedCouponRow>(
  'coupons',
  'getAll',
  {
    table: 'coupons',
    columns: ['coupon_code'],
    indexed: 'coupon_code',
    // An array, because a join with a page's limit makes the planner scan all coupons for a user's.
    filters: {
      userId: `id = any(array(
        select coupon_id from coupon_applicable_users where user_id = $userId::integer
      ))`,
      batchId: 'batch_id = $batchId::integer',
    },
    // Of these there may be many, so a search has an index of its own.
    wideFilters: {
      withoutBatch: 'batch_id is null',
    },
    links: [
      {
        column: 'applicableUsers',
        table: 'coupon_applicable_users',
        owner: 'coupon_id',
        target: 'user_id',
        related: 'users',
        shown: userJson('users.id'),
        count: countOf('users'),
      },
      {
        column: 'applicableProducts',
        table: 'coupon_applicable_products',
        owner: 'coupon_id',
        target: 'product_id',
        related: 'products',
        shown: productJson('products.id'),
        count: countOf('products'),
      },
    ],
  },
  {
    columns: (productIds) => `${couponColumnsWith(productIds)}, staff_users.name as "creatorName"`,
    joined: 'join staff_users on staff_users.id = coupons.created_by',
  },
);
