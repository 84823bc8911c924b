import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { lastSixDigits, newCode } from '../../services/coupon-service/coupons/codes.ts';
import { type CouponRow, couponColumnsWith } from '../../services/coupon-service/coupons/coupon.ts';
import type { JudgedCoupon } from '../../services/coupon-service/coupons/judgement.ts';
import { toAnswer } from '../../services/coupon-service/procedures/validate.ts';
import type { Product } from './bare-slots.ts';
import { readOf, writeOf } from './bare-sql.ts';

// The coupon procedures of the bare servers.

const validateSql = `
  select id, discount_percent as "discountPercent", flat_discount as "flatDiscount", max_value as "maxValue",
    min_order as "minOrder", coalesce(valid_till < now(), false) as "isExpired",
    is_apply_for_all or is_user_based as "isAvailable"
  from coupons where coupon_code = $1 and not is_invalidated`;

const relatedSql = (rows: string) => `
  select ${couponColumnsWith('coupons.product_ids')},
    json_build_object('id', staff_users.id, 'name', staff_users.name) as creator,
    (select json_agg(json_build_object('id', links.id, 'user', json_build_object('id', users.id, 'name', users.name,
        'email', users.email, 'mobile', users.mobile)) order by links.id)
     from coupon_applicable_users links join users on users.id = user_id where coupon_id = coupons.id) as users,
    (select json_agg(json_build_object('id', links.id, 'product', json_build_object('id', products.id,
        'name', products.name, 'images', products.images)) order by links.id)
     from coupon_applicable_products links join products on products.id = product_id
     where coupon_id = coupons.id) as products
  from coupons join staff_users on staff_users.id = created_by ${rows}`;

interface User {
  readonly id: number;
  readonly name: string | null;
  readonly email: string | null;
  readonly mobile: string;
}

interface RelatedRow extends CouponRow {
  readonly creator: { id: number; name: string };
  readonly users: { id: number; user: User }[] | null;
  readonly products: { id: number; product: Product }[] | null;
}

/** Each gives the answer of its procedure to the measured request. */
export function createCouponReads() {
  const read = readOf<JudgedCoupon>('validate', validateSql);
  const readOne = readOf<RelatedRow>('getById', relatedSql('where coupons.id = $1'));
  const readFound = readOf<RelatedRow>(
    'getAll',
    relatedSql('where coupon_code ilike $1 order by coupons.created_at desc, coupons.id desc limit 50'),
  );
  return {
    /** Searches for a term without signs of LIKE; the first page. */
    async getAll({ search = '' }: { search?: string | undefined }) {
      return { coupons: (await readFound([`%${search}%`])).map(toListed) };
    },
    async getById({ id = 0 }: { id?: number | undefined }) {
      const [row] = await readOne([id]);
      if (row === undefined) throw new Error('there is no such coupon');
      const applicableUsers = (row.users ?? []).map(({ user }) => toUser(user));
      const applicableProducts = (row.products ?? []).map(({ product }) => product);
      return { coupon: { ...toCoupon(row), creator: row.creator, applicableUsers, applicableProducts } };
    },
    async validate({ code, orderAmount }: { code: string; orderAmount: number }) {
      const [coupon] = await read([code.toUpperCase()]);
      return toAnswer('CODE', coupon, orderAmount);
    },
  };
}

export function createCouponWrite() {
  const write = writeOf('Create');
  return {
    async create() {
      const rows = await write([newCode('DC', lastSixDigits(Date.now()), 6)]);
      // The recorded statement returns the service's row.
      const row = rows.find((row): row is CouponRow => 'couponCode' in row);
      if (row === undefined) throw new Error('the coupon was not stored');
      return { coupon: toCoupon(row) };
    },
  };
}

function toListed(row: RelatedRow) {
  const [users, products] = [row.users ?? [], row.products ?? []];
  return {
    ...toCoupon(row),
    creator: row.creator,
    applicableUsers: users.map(({ id, user }) => ({ id, couponId: row.id, userId: user.id, user: toUser(user) })),
    applicableProducts: products.map(({ id, product }) => ({ id, couponId: row.id, productId: product.id, product })),
    productIdsCount: row.productIds?.length ?? 0,
    applicableUsersCount: users.length,
    applicableProductsCount: products.length,
  };
}

function toUser({ name, email, ...user }: User) {
  return { ...user, name: name ?? undefined, email: email ?? undefined };
}

function toCoupon(row: CouponRow) {
  return {
    id: row.id,
    couponCode: row.couponCode,
    isUserBased: row.isUserBased,
    discountPercent: row.discountPercent ?? undefined,
    flatDiscount: row.flatDiscount ?? undefined,
    minOrder: row.minOrder ?? undefined,
    maxValue: row.maxValue ?? undefined,
    productIds: row.productIds ? { ids: row.productIds } : undefined,
    isApplyForAll: row.isApplyForAll,
    validTill: row.validTill ? timestampFromDate(row.validTill) : undefined,
    maxLimitForUser: row.maxLimitForUser ?? undefined,
    exclusiveApply: row.exclusiveApply,
    isInvalidated: row.isInvalidated,
    createdBy: row.createdBy,
    createdAt: timestampFromDate(row.createdAt),
    etag: row.etag,
  };
}
