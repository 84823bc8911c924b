import { type Actor, actorOf, createdEntry } from '../../../shared/audit/entry.ts';
import { conditionalWrite } from '../../../shared/db/races.ts';
import { onlyRow, statement } from '../../../shared/db/statement.ts';
import { commonErrors, type ErrorRow, fail, invalidField } from '../../../shared/errors/errors.ts';
import type { CouponBatchService } from '../../../shared/gen/coupon/v1/coupon_batch_service_pb.ts';
import { ifNewKey } from '../../../shared/rpc/idempotency/key.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { type BatchRow, batchColumns, toBatch } from '../batches/batch.ts';
import { drawTexts } from '../coupons/codes.ts';
import { termsFields } from '../coupons/coupon.ts';
import { type NewCoupon, newCoupon, readCouponBody, requireCreatable, rowsOf } from '../coupons/coupon-body.ts';
import {
  isStaff,
  linkProducts,
  linksEntry,
  linkUsers,
  productsExist,
  termsColumns,
  termsValues,
  usersExist,
} from '../coupons/coupon-writes.ts';
import { couponErrors } from '../errors.ts';
import type { BatchParts } from '../parts.ts';

const defaultLength = 10;
/** How many codes are drawn in addition, in case that some are taken. A code is drawn of at least 28 ** 8. */
const spareCodes = 20;
/** The most links of all coupons together, and the most links and product ids. */
const maxLinks = 100_000;
const maxIds = 1_000_000;

/**
 * Design 13, createBatch: one statement checks the rules and creates the batch. Another one creates its coupons with
 * their links, in the same transaction.
 *
 * Throws INVALID_ARGUMENT for rules 1 to 4 of `create`, for products that do not exist, for a coupon code and for too
 * many links, and UNAUTHENTICATED.
 */
export function createBatch({ database }: BatchParts): Handler<typeof CouponBatchService.method.createBatch> {
  return async ({ name = '', count, prefix, codeLength, ...request }, call) => {
    const body = readCouponBody('coupon', request.coupon);
    if (body.couponCode) throw invalidField('coupon.coupon_code', 'must be empty: the codes of a batch are drawn');
    // 1 to 3
    requireCreatable(body);
    const coupon = newCoupon(body);
    const [links, listedIds] = rowsOf(body);
    if (links * count > maxLinks) throw invalidField('count', `makes more than ${maxLinks} links`);
    if ((links + listedIds) * count > maxIds) {
      throw invalidField('count', `makes more than ${maxIds} links and product ids`);
    }
    const terms = { ...actorOf(call), ...coupon, name, count, staffId: await call.staffId() };
    call.chargeRows(count * (1 + links), count * listedIds);
    const texts = drawTexts(count + spareCodes, codeLength || defaultLength);
    const codes = texts.map((text) => `${prefix}${text}`);
    const found = await conditionalWrite(async () => [
      await database.within(call, async (tx) => {
        const batch = onlyRow(await tx.query(insertBatch(terms)));
        if (batch.id !== null) await tx.query(insertCoupons({ ...terms, codes, batchId: batch.id }));
        return batch;
      }),
    ]);
    if (!found.mayWrite) throw fail(brokenRule(found));
    return { batch: toBatch(found) };
  };
}

function brokenRule({ usersExist, isStaff }: Findings): ErrorRow {
  // 4
  if (!usersExist) return couponErrors.usersNotFound;
  return isStaff ? couponErrors.productsNotFound : commonErrors.accessDenied;
}

interface NewBatch extends NewCoupon, Actor {
  name: string;
  count: number;
  staffId: number | undefined;
}

interface Findings {
  usersExist: boolean;
  isStaff: boolean;
}

type Found = Findings & { mayWrite: boolean } & (BatchRow | { id: null });

/** SQL of the condition that all rules hold, on the columns of `found`. */
const mayWrite = `("usersExist" and "isStaff" and "productsExist")`;

const insertBatch = statement<Found, NewBatch>(
  'createBatch',
  `with found as (
     select ${usersExist}, ${isStaff}, ${productsExist}
   ),
   batch as (
     insert into coupon_batches (name, count, created_by)
     select $name, $count::integer, $staffId::integer from found where ${ifNewKey(mayWrite)}
     returning *
   ),
   terms (${termsColumns}) as (select ${termsValues}),
   ${createdEntry(
     'coupon_batch',
     `'name', name, 'count', count, 'isUserBased', $isUserBased::boolean, 'isApplyForAll', $isApplyForAll::boolean,
      ${termsFields('made')}, ${linksEntry}`,
     '(select batch.*, terms.* from batch, terms) as made',
   )}
   select found.*, ${mayWrite} as "mayWrite", ${batchColumns}
   from found left join batch as coupon_batches on true`,
);

interface NewCoupons extends NewBatch {
  batchId: number;
  /** More codes than coupons. */
  codes: readonly string[];
}

const insertCoupons = statement<{ lostRace: null }, NewCoupons>(
  'createBatchCoupons',
  `with free as (
     select code from unnest($codes::text[]) with ordinality as drawn (code, place)
     where not exists (select from coupons where coupon_code = code)
     order by place limit cardinality($codes) - ${spareCodes}
   ),
   written as (
     insert into coupons (batch_id, created_by, coupon_code, is_user_based, is_apply_for_all, ${termsColumns})
     select $batchId::integer, $staffId::integer, code, $isUserBased::boolean, $isApplyForAll::boolean, ${termsValues}
     from free where ${ifNewKey('true')}
     on conflict (coupon_code) do nothing
     returning id
   ),
   ${linkUsers},
   ${linkProducts}
   select case when (select count(*) from written) < cardinality($codes) - ${spareCodes} then refuse_lost_race() end as "lostRace"`,
);
