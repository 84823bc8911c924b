import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { formatDay, formatTime, Time } from '../../business/time.tsx';
import { Badge } from '../../ui/page.tsx';
import { words } from '../../words.ts';
import { type Limits, stateOf } from './words.ts';

const text = words.coupons;
const kinds = { active: 'good', scheduled: 'plain', expired: 'plain', ended: 'bad', usedUp: 'warn' } as const;

interface CouponBadgeProps {
  readonly coupon: Parameters<typeof stateOf>[0];
  /** In Unix ms. */
  readonly now: number;
  /** How often it was used; undefined if that is not known. */
  readonly used?: number | undefined;
}

/** Shows in a word whether a coupon can be used. */
export function CouponBadge({ coupon, now, used }: CouponBadgeProps) {
  const state = stateOf(coupon, now, used);
  const badge = <Badge kind={kinds[state]}>{text.states[state]}</Badge>;
  return state === 'scheduled' ? <span title={`${text.from} ${formatTime(coupon.startsAt)}`}>{badge}</span> : badge;
}

/** Shows until when a coupon can be used and, if it has a start, from when on. */
export function Validity({ startsAt, validTill }: Limits) {
  const end = validTill === undefined ? text.noEnd : <Time at={validTill} />;
  if (startsAt === undefined) return end;
  return (
    <>
      {text.from} <Time at={startsAt} />
      <br />
      {validTill && text.until} {end}
    </>
  );
}

/** Shows the day of a time. Whoever points at it sees the time, and what is told besides. */
export function Day({ at, also = '' }: { readonly at: Timestamp | undefined; readonly also?: string | undefined }) {
  return at && <span title={formatTime(at) + also}>{formatDay(timestampDate(at))}</span>;
}
