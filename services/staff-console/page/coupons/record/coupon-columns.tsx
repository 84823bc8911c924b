import { timestampMs } from '@bufbuild/protobuf/wkt';
import { Link } from 'react-aria-components/Link';
import type { ListedCoupon } from '../../../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { formatTime } from '../../business/time.tsx';
import { byText, type Column } from '../../lists/column.ts';
import { isolate } from '../../ui/text.ts';
import { CouponBadge, ValidUntil } from './validity.tsx';
import { describeAudience, describeDiscount, describeMinimum, stateOf } from './words.ts';
import './coupons.css';

/** Returns the columns of a list of coupons, at a time in Unix ms. */
export function couponColumns(now: number): readonly Column<ListedCoupon>[] {
  const audience = (coupon: ListedCoupon) => describeAudience(coupon, coupon.applicableUsersCount);
  return [
    {
      title: 'Code',
      show: ({ id, couponCode }) => <Link href={`/coupons/${id}`}>{isolate(couponCode)}</Link>,
      text: ({ couponCode }) => couponCode,
      compare: (a, b) => byText(a.couponCode, b.couponCode),
      className: 'coupon-code',
    },
    { title: 'Gives', text: describeDiscount },
    {
      title: 'Smallest order',
      show: ({ minOrder }) => describeMinimum(minOrder),
      text: ({ minOrder = '' }) => minOrder,
      compare: (a, b) => Number(a.minOrder ?? 0) - Number(b.minOrder ?? 0),
      className: 'number',
    },
    {
      title: 'Valid until',
      show: ({ validTill }) => <ValidUntil at={validTill} />,
      text: ({ validTill }) => formatTime(validTill),
      className: 'time',
      compare: (a, b) => endOf(a) - endOf(b),
    },
    {
      title: 'For whom',
      text: audience,
      compare: (a, b) => byText(audience(a), audience(b)),
    },
    {
      title: 'State',
      show: (coupon) => <CouponBadge coupon={coupon} now={now} />,
      text: (coupon) => stateOf(coupon, now),
      compare: (a, b) => byText(stateOf(a, now), stateOf(b, now)),
    },
    {
      title: 'Created',
      show: ({ createdAt, creator }) => (
        <>
          {formatTime(createdAt)} <span className="detail">{creator?.name}</span>
        </>
      ),
      text: ({ createdAt }) => formatTime(createdAt),
    },
  ];
}

/** Returns when a coupon ends, in Unix ms. */
export function endOf({ validTill }: Pick<ListedCoupon, 'validTill'>): number {
  return validTill === undefined ? Number.POSITIVE_INFINITY : timestampMs(validTill);
}
