import { createQueryOptions, useTransport } from '@connectrpc/connect-query';
import { useQueries, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { ListedCoupon } from '#gen/coupon/v1/coupon_service_pb';
import { type CouponUsage, RedemptionService } from '#gen/coupon/v1/redemption_service_pb';
import { currencyDigits, formatAmount } from '../../business/money.ts';
import type { Column } from '../../lists/column.ts';
import { describeFailure } from '../../rpc/failure.ts';
import { Problem } from '../../ui/page.tsx';
import { words } from '../../words.ts';

const text = words.coupons;

type Counted = Pick<ListedCoupon, 'id' | 'maxUses'>;

/**
 * Returns the columns that tell how often coupons were used, and what they gave. The figures are read with one call a page,
 * after its rows are there.
 *
 * @param pages the coupons on show, as they were read.
 */
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
  const givenBy = (coupon: Counted) => usageOf(coupon)?.discountUsed;
  const columns: readonly Column<Counted>[] = [
    {
      title: text.used,
      text: (coupon) => String(usedOf(coupon) ?? ''),
      show: (coupon) => {
        const usage = usageOf(coupon);
        if (usage === undefined) return missing;
        return <span title={text.held(usage.held)}>{text.usedOf(usage.used, coupon.maxUses ?? 0)}</span>;
      },
      compare: (a, b) => (usedOf(a) ?? 0) - (usedOf(b) ?? 0),
      className: 'number',
    },
    {
      title: text.given,
      text: (coupon) => givenBy(coupon) ?? '',
      show: (coupon) => (usageOf(coupon) ? formatAmount(givenBy(coupon) ?? 0, currencyDigits()) : missing),
      compare: (a, b) => Number(givenBy(a) ?? 0) - Number(givenBy(b) ?? 0),
      className: 'number',
    },
  ];
  /** Reads the figures of a page of a file. */
  const readAlso = async (rows: readonly Counted[]): Promise<void> => {
    // The last page of a list may have no row, and the call takes at least one.
    const { usage } = rows.length === 0 ? { usage: [] } : await queryClient.fetchQuery(queryOf(rows));
    for (const each of usage) ofFile.set(each.couponId, each);
  };
  const problem: ReactNode = failed[0] && (
    <Problem
      failure={{ ...describeFailure(failed[0].error), title: text.usageUnread }}
      onRetry={() => failed.forEach(({ refetch }) => void refetch())}
    />
  );
  return { columns, readAlso, usedOf, problem };
}
