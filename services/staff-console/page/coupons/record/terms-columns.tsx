import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import { fileTime } from '../../business/time-input.ts';
import type { Column } from '../../lists/column.ts';
import { words } from '../../words.ts';
import { Day } from './validity.tsx';
import { describeDiscount, describeMinimum, type Limits, type Terms } from './words.ts';
import './coupons.css';

const { terms: labels, createdBy } = words.coupon;

/** The columns of a coupon's terms. */
export const termsColumns: readonly [Column<Terms>, Column<Terms>, Column<Terms>] = [
  {
    title: labels.discount,
    text: describeDiscount,
    className: 'clip',
    file: [
      { title: labels.percent, text: ({ discountPercent = '' }) => discountPercent },
      { title: labels.amount, text: ({ flatDiscount = '' }) => flatDiscount },
      { title: labels.maxValue, text: ({ maxValue = '' }) => maxValue },
    ],
  },
  {
    title: labels.minOrder,
    text: ({ minOrder = '' }) => minOrder,
    show: ({ minOrder }) => describeMinimum(minOrder),
    compare: (a, b) => Number(a.minOrder ?? 0) - Number(b.minOrder ?? 0),
    className: 'number',
  },
  {
    title: labels.ends,
    text: ({ validTill }) => fileTime(validTill),
    file: [
      { title: labels.starts, text: ({ startsAt }) => fileTime(startsAt), isTime: true },
      { title: labels.ends, text: ({ validTill }) => fileTime(validTill), isTime: true },
      { title: labels.uses, text: ({ maxUses }) => String(maxUses || '') },
    ],
    show: ({ validTill }) => (validTill === undefined ? words.coupons.noEnd : <Day at={validTill} />),
    compare: (a, b) => endOf(a) - endOf(b),
    className: 'time',
  },
];

/** The column that says when a record was created, and by whom. */
export const createdColumn: Column<{
  readonly createdAt?: Timestamp | undefined;
  readonly creator?: { readonly name: string } | undefined;
}> = {
  title: words.coupons.created,
  text: ({ createdAt }) => fileTime(createdAt),
  className: 'time',
  file: [
    { title: words.coupons.created, text: ({ createdAt }) => fileTime(createdAt), isTime: true },
    { title: createdBy, text: ({ creator }) => creator?.name ?? '' },
  ],
  show: ({ createdAt, creator }) => <Day at={createdAt} also={creator && `, ${creator.name}`} />,
  compare: (a, b) => msOf(a.createdAt) - msOf(b.createdAt),
};

const msOf = (at: Timestamp | undefined) => (at === undefined ? 0 : timestampMs(at));

/** Returns when a coupon ends, in Unix ms. */
export function endOf({ validTill }: Limits): number {
  return validTill === undefined ? Number.POSITIVE_INFINITY : timestampMs(validTill);
}
