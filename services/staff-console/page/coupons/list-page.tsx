import { useQuery } from '@connectrpc/connect-query';
import type { ReactNode } from 'react';
import { type CouponBatch, CouponBatchService } from '../../../../shared/gen/coupon/v1/coupon_batch_service_pb.ts';
import {
  CouponService,
  type GetAllResponse,
  type ListedCoupon,
} from '../../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { useNow } from '../business/time.tsx';
import { SelectField } from '../forms/select-field.tsx';
import { TextField } from '../forms/text-field.tsx';
import { orderOf } from '../lists/column.ts';
import { useFilters } from '../lists/filters.ts';
import { List } from '../lists/list.tsx';
import { byToken, useRows } from '../lists/source.ts';
import { useSearch } from '../lists/use-search.ts';
import { Views } from '../lists/views.tsx';
import { UserFilter } from '../lookup/record-filters.tsx';
import { ButtonLink } from '../ui/button.tsx';
import { Page } from '../ui/page.tsx';
import { readId } from '../ui/text.ts';
import { couponColumns } from './record/coupon-columns.tsx';
import { endOf } from './record/terms-columns.tsx';
import { useUsageColumns } from './record/usage-columns.tsx';
import { couponViews, nameOfBatch, stateOf } from './record/words.ts';

const states = [
  ['Valid', 'Valid'],
  ['Scheduled', 'Scheduled'],
  ['Expired', 'Expired'],
  ['Invalidated', 'Invalidated'],
] as const;
const ends = [
  ['7', 'Within a week'],
  ['31', 'Within a month'],
  ['none', 'Never'],
] as const;
const dayMs = 86_400_000;
// The latest ones. The page of an older one leads to its coupons.
const mostBatches = 100;
const rowsOf = ({ coupons }: GetAllResponse) => coupons;

/** Lists the coupons: latest first, or as staff sort and filter them. */
export function Component(): ReactNode {
  const search = useSearch();
  const { values, set, field } = useFilters(['state', 'ends', 'user', 'batch', 'sort']);
  const now = useNow(20_000);
  const order = orderOf({ values, set });
  const isWhole = [values.state, values.ends, values.sort].some((value) => value !== '');
  const [userId, batchId] = [readId(values.user), readId(values.batch)];
  const batches = useQuery(CouponBatchService.method.listBatches, { limit: mostBatches });
  const request = {
    ...(userId !== undefined && { userId }),
    ...(batchId !== undefined && { batchId }),
    search: search.search.trim(),
    limit: isWhole ? 1_000 : 50,
  };
  const source = { method: CouponService.method.getAll, request, rowsOf, next: byToken };
  const usage = useUsageColumns(useRows(source, false).pages);
  const matches = (coupon: ListedCoupon) =>
    (values.state === '' || stateOf(coupon, now) === values.state) && endsWithin(coupon, values.ends, now);
  const isFiltered = request.search !== '' || Object.values({ ...values, sort: '' }).some((value) => value !== '');
  return (
    <Page
      title="Coupons"
      actions={
        <>
          <ButtonLink href="/coupons/refund">Refund for an order</ButtonLink>
          <ButtonLink href="/coupons/phone">Coupon for a mobile number</ButtonLink>
          <ButtonLink href="/coupons/new" emphasis="primary">
            New coupon
          </ButtonLink>
        </>
      }
    >
      <Views label="Kinds of coupons" links={couponViews}>
        <TextField label="Search by code" {...search.field} />
        <SelectField label="State" none="Any" options={states} {...field('state')} />
        <SelectField label="Ends" none="At any time" options={ends} {...field('ends')} />
        <UserFilter {...field('user')} />
        <SelectField
          label="Batch"
          none="Any"
          options={batchOptions(batches.data?.batches ?? [], batchId)}
          {...field('batch')}
        />
      </Views>
      <List
        source={{ ...source, readAlso: usage.readAlso }}
        matches={matches}
        isWhole={isWhole}
        what="coupons"
        empty={isFiltered ? 'No coupon matches.' : 'No coupons yet.'}
        caption={order.by === '' ? 'Latest first' : `By ${order.by.toLowerCase()}`}
        columns={couponColumns(now, usage.columns)}
        keyOf={({ id }) => id}
        order={order}
      />
    </Page>
  );
}

/** The latest batches, and the one that is chosen, which may be older. */
function batchOptions(batches: readonly CouponBatch[], chosen: number | undefined) {
  const options = batches.map((batch) => [String(batch.id), nameOfBatch(batch)] as const);
  const isListed = chosen === undefined || batches.some(({ id }) => id === chosen);
  return isListed ? options : [...options, [String(chosen), `Batch ${chosen}`] as const];
}

function endsWithin(coupon: ListedCoupon, ends: string, now: number): boolean {
  if (ends === '') return true;
  const end = endOf(coupon);
  return ends === 'none' ? end === Number.POSITIVE_INFINITY : end >= now && end < now + Number(ends) * dayMs;
}
