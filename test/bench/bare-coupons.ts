import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { lastSixDigits, newCode } from '../../services/coupon-service/coupons/codes.ts';
import { type CouponRow, couponColumnsWith } from '../../services/coupon-service/coupons/coupon.ts';
import { judge, type ValidatedRow } from '../../services/coupon-service/procedures/validate.ts';
import { readOf, writeOf } from './bare-sql.ts';

// The coupon procedures of the bare servers.

const validateSql = `
  select id, discount_percent as "discountPercent", flat_discount as "flatDiscount", max_value as "maxValue",
    min_order as "minOrder", coalesce(valid_till < now(), false) as "isExpired",
    is_apply_for_all or is_user_based as "isAvailable"
  from coupons where coupon_code = $1 and not is_invalidated`;

const couponByIdSql = `
  select ${couponColumnsWith('coupons.product_ids')},
    json_build_object('id', staff_users.id, 'name', staff_users.name) as creator,
    (select json_agg(json_build_object('id', users.id, 'name', users.name, 'email', users.email,
        'mobile', users.mobile) order by links.id)
     from coupon_applicable_users links join users on users.id = user_id where coupon_id = coupons.id) as users,
    (select json_agg(json_build_object('id', products.id, 'name', products.name, 'images', products.images)
        order by links.id)
     from coupon_applicable_products links join products on products.id = product_id
     where coupon_id = coupons.id) as products
  from coupons join staff_users on staff_users.id = created_by where coupons.id = $1`;

interface CouponDetailRow extends CouponRow {
  readonly creator: { id: number; name: string };
  readonly users: { id: number; name: string | null; email: string | null; mobile: string }[] | null;
  readonly products: { id: number; name: string; images: string[] }[] | null;
}

/** Each reads what its procedure needs, and computes the same. */
export function createCouponReads() {
  const read = readOf<ValidatedRow>('validate', validateSql);
  const readDetail = readOf<CouponDetailRow>('getById', couponByIdSql);
  return {
    async getById({ id = 0 }: { id?: number | undefined }) {
      const [row] = await readDetail([id]);
      if (row === undefined) throw new Error('there is no such coupon');
      const applicableUsers = (row.users ?? []).map(({ name, email, ...user }) => {
        return { ...user, name: name ?? undefined, email: email ?? undefined };
      });
      const applicableProducts = row.products ?? [];
      return { coupon: { ...toCoupon(row), creator: row.creator, applicableUsers, applicableProducts } };
    },
    async validate({ code, orderAmount }: { code: string; orderAmount: number }) {
      const [coupon] = await read([code.toUpperCase()]);
      return judge(coupon, orderAmount);
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
