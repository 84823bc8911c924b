import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import { formatTime } from '../../business/time.tsx';
import { fileTime } from '../../business/time-input.ts';
import type { Column } from '../../lists/column.ts';
import { Validity } from './validity.tsx';
import { type Discounts, describeDiscount, describeMinimum, type Limits } from './words.ts';
import './coupons.css';

/** The terms that the lists of coupons and of reserved coupons show. */
interface Terms extends Discounts, Limits {
  readonly minOrder?: string | undefined;
}

/** The columns of a coupon's terms. */
export const termsColumns: readonly Column<Terms>[] = [
  {
    title: 'Gives',
    text: describeDiscount,
    className: 'words',
    file: [
      { title: 'Percent off', text: ({ discountPercent = '' }) => discountPercent },
      { title: 'Amount off', text: ({ flatDiscount = '' }) => flatDiscount },
      { title: 'Largest discount', text: ({ maxValue = '' }) => maxValue },
    ],
  },
  {
    title: 'Smallest order',
    text: ({ minOrder = '' }) => minOrder,
    show: ({ minOrder }) => describeMinimum(minOrder),
    compare: (a, b) => Number(a.minOrder ?? 0) - Number(b.minOrder ?? 0),
    className: 'number',
  },
  {
    title: 'Valid until',
    text: ({ validTill }) => fileTime(validTill),
    file: [
      { title: 'Starts', text: ({ startsAt }) => fileTime(startsAt), isTime: true },
      { title: 'Valid until', text: ({ validTill }) => fileTime(validTill), isTime: true },
      { title: 'Uses in all', text: ({ maxUses }) => String(maxUses || '') },
    ],
    show: Validity,
    compare: (a, b) => endOf(a) - endOf(b),
    className: 'time',
  },
];

/** The column that says when a record was created, and by whom. */
export const createdColumn: Column<{
  readonly createdAt?: Timestamp | undefined;
  readonly creator?: { readonly name: string } | undefined;
}> = {
  title: 'Created',
  text: ({ createdAt }) => fileTime(createdAt),
  className: 'words',
  file: [
    { title: 'Created', text: ({ createdAt }) => fileTime(createdAt), isTime: true },
    { title: 'Created by', text: ({ creator }) => creator?.name ?? '' },
  ],
  show: ({ createdAt, creator }) => (
    <>
      {formatTime(createdAt)} <span className="detail">{creator?.name}</span>
    </>
  ),
};

/** Returns when a coupon ends, in Unix ms. */
export function endOf({ validTill }: Terms): number {
  return validTill === undefined ? Number.POSITIVE_INFINITY : timestampMs(validTill);
}
