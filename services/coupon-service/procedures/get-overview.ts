import { Temporal } from 'temporal-polyfill';
import { statement } from '../../../shared/db/statement.ts';
import type { RedemptionService } from '../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { mapped } from '../../../shared/rpc/answers/answer.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { type Interval, readInterval, readTimeZone, tooManyDays } from '../../../shared/rpc/interval.ts';
import { type CouponRow, couponColumnsWith, toCoupon } from '../coupons/coupon.ts';
import { maxShown } from '../listing/listing.ts';
import type { RedemptionParts } from '../parts.ts';
import { liveUses } from '../redemptions/room.ts';
import { selectUsed } from '../redemptions/uses.ts';

const maxDays = 92;
const maxListed = 20;

/**
 * Design 17, getOverview: sums up the uses of each day of an interval, and lists coupons that end soon and those that
 * are nearly used up. Throws INVALID_ARGUMENT for a date that does not parse, a time zone that is not known, and an
 * interval of more than 92 days.
 */
export function getOverview({
  database,
  timeZone,
  unsent,
}: RedemptionParts): Handler<typeof RedemptionService.method.getOverview> {
  return async (request, call) => {
    const { dates, startMicros } = readDays(readInterval(request), readTimeZone(request, timeZone));
    const db = database.for(call);
    const [used, ending, nearlyUsedUp, ofEvents] = await Promise.all([
      db.query(selectUsed({ startMicros })),
      db.query(selectEnding()),
      db.query(selectNearlyUsedUp()),
      unsent(db),
    ]);
    return {
      days: used.map((day, at) => ({ ...day, date: dates[at] ?? '' })),
      ending: mapped(ending, toCoupon),
      nearlyUsedUp: nearlyUsedUp.map(({ usesLeft, ...coupon }) => ({ coupon: toCoupon(coupon), usesLeft })),
      ...ofEvents,
    };
  };
}

/** Returns the local dates that an interval has a part of, and when they begin, with the day after the last. */
function readDays({ from, until }: Interval, timeZone: string) {
  if (until <= from) return { dates: [], startMicros: [] };
  const dateOf = (ms: number) => Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timeZone).toPlainDate();
  const first = dateOf(from);
  const days = first.until(dateOf(until - 1)).days + 1;
  if (days > maxDays) throw tooManyDays(maxDays);
  const dates = Array.from({ length: days + 1 }, (_, index) => first.add({ days: index }));
  return {
    dates: dates.map(String),
    startMicros: dates.map((date) => `${date.toZonedDateTime(timeZone).epochMilliseconds}000`),
  };
}

const columns = couponColumnsWith(`to_json(coupons.product_ids[:${maxShown}])`);

const selectEnding = statement<CouponRow>(
  'selectEnding',
  `select ${columns} from coupons
   where batch_id is null and not is_invalidated
     and valid_till >= statement_timestamp() and valid_till < statement_timestamp() + interval '7 days'
   order by valid_till, id limit ${maxListed}`,
);

// `limited_coupons` counts holds that have run out until a sweep marks them.
const selectNearlyUsedUp = statement<CouponRow & { usesLeft: number }>(
  'selectNearlyUsedUp',
  `select ${columns}, uses_left::integer as "usesLeft"
   from (
     select coupon_id, ends_at, max_uses, max_uses - (${liveUses('limited_coupons.coupon_id')}) as uses_left
     from limited_coupons
     where live < max_uses and live * 10 >= max_uses * 9 and ends_at >= statement_timestamp()
     order by ends_at, coupon_id limit ${2 * maxListed}
   ) as few, lateral (select * from coupons where id = coupon_id offset 0) as coupons
   where uses_left > 0 and uses_left * 10 <= few.max_uses
   order by ends_at, coupon_id limit ${maxListed}`,
);
