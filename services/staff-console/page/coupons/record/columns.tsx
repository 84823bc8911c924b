import { type Timestamp, timestampDate, timestampMs } from '@bufbuild/protobuf/wkt';
import { createQueryOptions, useTransport } from '@connectrpc/connect-query';
import { useQueries, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-aria-components/Link';
import type { ListedCoupon, ListedReservedCoupon } from '#gen/coupon/v1/coupon_service_pb';
import { type CouponUsage, RedemptionService } from '#gen/coupon/v1/redemption_service_pb';
import { trailAddress } from '../../audit/trail/filters.ts';
import { currencyDigits, formatAmount } from '../../business/money.ts';
import { formatDay, formatTime } from '../../business/time.tsx';
import { type Column, numberColumn, textColumn, timeColumn } from '../../lists/column.tsx';
import { describeFailure } from '../../rpc/failure.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Badge, Problem } from '../../ui/page.tsx';
import { isolate } from '../../ui/text.ts';
import { words } from '../../words.ts';
import { describeDiscount, describeMinimum, stateOf, type Terms, type Usable } from './words.ts';
import './coupons.css';

const text = words.coupons;
const { code } = words.coupon;

type Coded = Pick<ListedCoupon, 'id' | 'couponCode'>;

/** The column of a coupon's code, which leads to the coupon, in one line. */
export const codeColumn = textColumn(words.fields.couponCode, ({ couponCode }: Coded) => couponCode, {
  show: ({ id, couponCode }) => (
    <span className="code-cell">
      <Link className="one-line" href={`/coupons/${id}`}>
        {isolate(couponCode)}
      </Link>
      <CopyButton isIcon what={code} text={couponCode} name={couponCode} />
    </span>
  ),
  className: 'code',
});

/** The column of a reserved coupon's code, which leads to its history. */
export const secretColumn = textColumn(words.fields.secretCode, ({ secretCode }: ListedReservedCoupon) => secretCode, {
  show: ({ id, secretCode }) => (
    <Link href={trailAddress({ type: 'reserved_coupon', id: String(id) })}>{isolate(secretCode)}</Link>
  ),
  className: 'code',
});

/** Shows the day of a time. Whoever points at it sees the time, and what is told besides. */
const dayOf = (at: Timestamp, also = '') => <span title={formatTime(at) + also}>{formatDay(timestampDate(at))}</span>;

const ends = timeColumn(words.fields.validTill, ({ validTill }: Terms) => validTill);

/** The columns of a coupon's terms. */
export const termsColumns: readonly [Column<Terms>, Column<Terms>, Column<Terms>] = [
  {
    title: words.fields.discountAmount,
    text: describeDiscount,
    className: 'clip',
    file: [
      { title: words.fields.discountPercent, text: ({ discountPercent = '' }) => discountPercent },
      { title: words.fields.flatDiscount, text: ({ flatDiscount = '' }) => flatDiscount },
      { title: words.fields.maxValue, text: ({ maxValue = '' }) => maxValue },
    ],
  },
  {
    ...numberColumn(words.fields.minOrder, ({ minOrder = 0 }) => Number(minOrder)),
    text: ({ minOrder = '' }) => minOrder,
    show: ({ minOrder }) => describeMinimum(minOrder),
  },
  {
    ...ends,
    file: [
      timeColumn(words.fields.startsAt, ({ startsAt }) => startsAt),
      ends,
      { title: words.fields.maxUses, text: ({ maxUses }) => String(maxUses || '') },
    ],
    // A coupon that ends with its day needs no time.
    show: ({ validTill }) => (validTill ? formatTime(validTill).replace(', 23:59', '') : text.noEnd),
    compare: (a, b) => endOf(a) - endOf(b),
    // In two lines where the columns have no room.
    className: '',
  },
];

/** Returns when a coupon ends, in Unix ms. */
export function endOf({ validTill }: Terms): number {
  return validTill === undefined ? Number.POSITIVE_INFINITY : timestampMs(validTill);
}

type Created = Pick<ListedCoupon, 'createdAt' | 'creator'>;
const created = timeColumn(words.fields.createdAt, ({ createdAt }: Created) => createdAt);

/** The column that says when a record was created, and by whom. */
export const createdColumn: Column<Created> = {
  ...created,
  file: [created, { title: words.fields.createdBy, text: ({ creator }) => creator?.name ?? '' }],
  show: ({ createdAt, creator }) => createdAt && dayOf(createdAt, creator && `, ${creator.name}`),
};

const kinds = { active: 'good', scheduled: 'plain', expired: 'plain', ended: 'bad', usedUp: 'warn' } as const;

/** Shows in a word whether a coupon can be used at a time in Unix ms; `used`: how often it was, if that is known. */
export function badgeOf(coupon: Usable, now: number, used?: number) {
  const state = stateOf(coupon, now, used);
  const badge = <Badge kind={kinds[state]}>{text.states[state]}</Badge>;
  return state === 'scheduled' ? <span title={`${words.from} ${formatTime(coupon.startsAt)}`}>{badge}</span> : badge;
}

/** Returns the column that says whether a coupon can be used; `usedOf` tells how often it was, as far as that is read. */
export function stateColumn<Row extends Usable>(now: number, usedOf?: (coupon: Row) => number | undefined) {
  return textColumn(words.fields.state, (coupon: Row) => text.states[stateOf(coupon, now, usedOf?.(coupon))], {
    show: (coupon) => badgeOf(coupon, now, usedOf?.(coupon)),
  });
}

type Counted = Pick<ListedCoupon, 'id' | 'maxUses'>;

/** Returns columns for how often coupons were used, and what they gave. These figures are read with one call a page. */
export function useUsageColumns(pages: readonly (readonly Counted[])[] = []) {
  const transport = useTransport();
  const queryClient = useQueryClient();
  const queryOf = (rows: readonly Counted[]) => ({
    ...createQueryOptions(RedemptionService.method.getUsage, { couponIds: rows.map(({ id }) => id) }, { transport }),
    refetchOnWindowFocus: pages.length === 1,
  });
  const answers = useQueries({ queries: pages.filter((rows) => rows.length > 0).map(queryOf) });
  const [ofFile] = useState(() => new Map<number, CouponUsage>());
  const shown = new Map(answers.flatMap(({ data }) => data?.usage.map((usage) => [usage.couponId, usage]) ?? []));
  const usageOf = ({ id }: Counted) => shown.get(id) ?? ofFile.get(id);
  const failed = answers.filter(({ error }) => error !== null);
  const missing = answers.some(({ isPending }) => isPending) ? '…' : text.unknown;
  const usedOf = (coupon: Counted) => usageOf(coupon)?.used;
  const columns: readonly Column<Counted>[] = [
    {
      ...numberColumn(words.fields.usedAt, (coupon) => usedOf(coupon) ?? 0),
      text: (coupon) => String(usedOf(coupon) ?? ''),
      show: (coupon) => {
        const usage = usageOf(coupon);
        if (usage === undefined) return missing;
        return <span title={text.held(usage.held)}>{text.usedOf(usage.used, coupon.maxUses ?? 0)}</span>;
      },
    },
    {
      ...numberColumn(text.given, (coupon) => Number(usageOf(coupon)?.discountUsed ?? 0)),
      text: (coupon) => usageOf(coupon)?.discountUsed ?? '',
      show: (coupon) =>
        usageOf(coupon) ? formatAmount(usageOf(coupon)?.discountUsed ?? 0, currencyDigits()) : missing,
    },
  ];
  const readAlso = async (rows: readonly Counted[]): Promise<void> => {
    // The last page of a list may have no row, and the call takes at least one.
    const { usage } = rows.length === 0 ? { usage: [] } : await queryClient.fetchQuery(queryOf(rows));
    for (const each of usage) ofFile.set(each.couponId, each);
  };
  const problem = failed[0] && (
    <Problem
      failure={{ ...describeFailure(failed[0].error), title: text.usageUnread }}
      onRetry={() => failed.forEach(({ refetch }) => void refetch())}
    />
  );
  return { columns, readAlso, usedOf, problem };
}
