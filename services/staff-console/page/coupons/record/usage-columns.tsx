import { createQueryOptions, useTransport } from '@connectrpc/connect-query';
import { useQueries, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { ListedCoupon } from '../../../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { type CouponUsage, RedemptionService } from '../../../../../shared/gen/coupon/v1/redemption_service_pb.ts';
import { currencyDigits, formatAmount } from '../../business/money.ts';
import type { Column } from '../../lists/column.ts';
import { describeUses } from './words.ts';

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
  const missing = answers.some(({ isPending }) => isPending) ? '…' : '–';
  const used = (coupon: Counted) => usageOf(coupon)?.used;
  const given = (coupon: Counted) => usageOf(coupon)?.discountUsed;
  const columns: readonly Column<Counted>[] = [
    {
      title: 'Used',
      text: (coupon) => String(used(coupon) ?? ''),
      show: (coupon) =>
        (used(coupon)?.toLocaleString('en') ?? missing) + (coupon.maxUses ? ` of ${describeUses(coupon)}` : ''),
      compare: (a, b) => (used(a) ?? 0) - (used(b) ?? 0),
      className: 'number',
    },
    {
      title: 'Discount given',
      text: (coupon) => given(coupon) ?? '',
      show: (coupon) => (usageOf(coupon) ? formatAmount(given(coupon) ?? 0, currencyDigits()) : missing),
      compare: (a, b) => Number(given(a) ?? 0) - Number(given(b) ?? 0),
      className: 'number',
    },
  ];
  /** Reads the figures of a page of a file. */
  const readAlso = async (rows: readonly Counted[]): Promise<void> => {
    // The last page of a list may have no row, and the call takes at least one.
    const { usage } = rows.length === 0 ? { usage: [] } : await queryClient.fetchQuery(queryOf(rows));
    for (const each of usage) ofFile.set(each.couponId, each);
  };
  return { columns, readAlso };
}
