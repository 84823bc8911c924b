import { type Actor, actorOf, auditEntry, createdEntry } from '../../../shared/audit/entry.ts';
import { conditionalWrite } from '../../../shared/db/races.ts';
import { onlyRow, statement } from '../../../shared/db/statement.ts';
import { fail } from '../../../shared/errors/errors.ts';
import type { RedemptionService } from '../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { type NamedUser, namedUser, readUser } from '../../../shared/holds/named-user.ts';
import { ifNewKey } from '../../../shared/rpc/idempotency/key.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { drawTexts } from '../coupons/codes.ts';
import { type CouponRow, couponColumns, couponFields, toCoupon } from '../coupons/coupon.ts';
import { termsColumns } from '../coupons/coupon-writes.ts';
import { toLookedUpForm } from '../coupons/judgement.ts';
import { type ListedReservedCouponRow, listedReserved, toListedReservedCoupon } from '../coupons/reserved-coupon.ts';
import { couponErrors } from '../errors.ts';
import { maxShown } from '../listing/listing.ts';
import type { RedemptionParts } from '../parts.ts';

/** How many codes are tried at once if a coupon has the code of the reserved coupon already. */
const drawnCodes = 8;

/**
 * Design 13, claim: makes a coupon of a user's own from a reserved coupon. The same user gets the same coupon again.
 *
 * Throws NOT_FOUND for an unknown user or secret code, FAILED_PRECONDITION if another user has claimed the code or it
 * has expired, and with a miss limit RESOURCE_EXHAUSTED, as `validate` does.
 */
export function claim({ database, missLimit }: RedemptionParts): Handler<typeof RedemptionService.method.claim> {
  return async ({ secretCode, ...named }, call) => {
    const user = readUser(named);
    await missLimit?.require(call);
    const db = database.for(call);
    const reserved = onlyRow(await db.query(selectReserved({ ...codesOf(secretCode), ...user })));
    const { userId } = reserved;
    if (reserved.id === null) await missLimit?.count(call);
    if (userId === null) throw fail(couponErrors.userNotFound);
    if (reserved.id === null) throw fail(couponErrors.secretCodeNotFound);
    const { id, couponCode, links, listedIds } = reserved;
    call.chargeRows(2 + links, listedIds);
    const code = toLookedUpForm(couponCode);
    const found = await conditionalWrite(async () => {
      const drawn = drawTexts(drawnCodes, 4).map((text) => `${cut(code, maxCodeLength - 5)}-${text}`);
      const couponCodes = [cut(code, maxCodeLength), ...drawn];
      // In one transaction, so that an error of the second statement undoes the claim.
      return database.within(call, async (tx) => {
        const claiming = tx.query(claimCoupon({ ...actorOf(call), id, userId, couponCodes }));
        const [claimed, listed] = await Promise.all([claiming, tx.query(selectListed({ id }))]);
        return [{ ...onlyRow(claimed), reserved: onlyRow(listed) }];
      });
    });
    if (!found.mayWrite) throw fail(found.isTaken ? couponErrors.secretCodeClaimed : couponErrors.secretCodeExpired);
    return { coupon: toCoupon(found), reservedCoupon: toListedReservedCoupon(found.reserved) };
  };
}

/** A code is cut where upper case or more characters make it longer than a request may have it. */
const maxCodeLength = 128;
const cut = (code: string, length: number) => [...code].slice(0, length).join('');

const codesOf = (secretCode: string) => ({ exact: secretCode.normalize('NFC'), upper: toLookedUpForm(secretCode) });

const selectReserved = statement<
  { userId: number | null } & ({ id: number; couponCode: string; links: number; listedIds: number } | { id: null }),
  { exact: string; upper: string } & NamedUser
>(
  'claimedReserved',
  `select one.user_id as "userId", id, coupon_code as "couponCode",
     coalesce(cardinality(product_ids), 0) as "listedIds", case when one.user_id is null then 0 else (
       select count(*)::integer from reserved_coupon_applicable_products where reserved_coupon_id = reserved_coupons.id
     ) end as links
   from (select ${namedUser} as user_id) as one left join (
     select * from reserved_coupons where secret_code in ($exact, $upper) order by secret_code = $exact desc limit 1
   ) as reserved_coupons on true`,
);

/** Returns SQL of the ids of a new record, for its audit entry. */
const idsEntry = (ids: string) => `coalesce(changed_ids(null, to_json(${ids})), to_json(${ids}))`;

type Found = { isTaken: boolean; isNew: boolean; mayWrite: boolean } & (CouponRow | { id: null });

// The lock makes users claim one at a time, each of whom sees what the one before has done.
const claimCoupon = statement<Found, { id: number; userId: number; couponCodes: readonly string[] } & Actor>(
  'claim',
  `with seen as materialized (select * from reserved_coupons where id = $id for no key update),
   found as materialized (
     select claimed_coupon_id is null as "isNew",
       redeemed_by is distinct from $userId::integer and (claimed_coupon_id is not null or redeemed_by is not null) as "isTaken"
     from seen
   ),
   allowed as materialized (
     select "isNew", not "isTaken" and (not "isNew" or coalesce(valid_till >= statement_timestamp(), true)) as "mayWrite"
     from seen, found
   ),
   free as (
     select code from unnest($couponCodes::text[]) with ordinality as drawn (code, place)
     where not exists (select from coupons where coupon_code = code)
     order by place limit 1
   ),
   written as (
     insert into coupons (coupon_code, is_user_based, created_by, ${termsColumns})
     select code, true, created_by, ${termsColumns} from seen, allowed, free where ${ifNewKey('"mayWrite" and "isNew"')}
     on conflict (coupon_code) do nothing
     returning *
   ),
   linked_user as (
     insert into coupon_applicable_users (coupon_id, user_id) select id, $userId from written
   ),
   linked_products as (
     insert into coupon_applicable_products (coupon_id, product_id)
     select written.id, product_id from written, reserved_coupon_applicable_products
     where reserved_coupon_id = $id
     order by product_id
   ),
   redeemed as (
     update reserved_coupons set redeemed_by = $userId, claimed_coupon_id = written.id
     from written where reserved_coupons.id = $id
     returning reserved_coupons.id
   ),
   ${createdEntry(
     'coupon',
     `${couponFields('written')}, 'productIds', ${idsEntry('product_ids')}, 'applicableUsers', json_build_array($userId),
      'applicableProducts', ${idsEntry(`array(
        select product_id from reserved_coupon_applicable_products where reserved_coupon_id = $id order by product_id
      )`)}`,
   )},
   ${auditEntry(
     'reserved_coupon',
     `select id, '{}'::json as before, json_build_object('redeemedUser', $userId) as after from redeemed`,
   )}
   select "isTaken", allowed.*, ${couponColumns}
   from found, allowed left join (
     select * from written
     union all select coupons.* from coupons, seen, allowed where coupons.id = claimed_coupon_id and "mayWrite"
   ) as coupons on true`,
);

const selectListed = statement<ListedReservedCouponRow, { id: number }>(
  'claimedReservedListed',
  `select ${listedReserved.columns(`product_ids[:${maxShown}]`)},
     coalesce(cardinality(product_ids), 0) as "productIdsCount"
   from reserved_coupons ${listedReserved.joined}
   where reserved_coupons.id = $id`,
);
