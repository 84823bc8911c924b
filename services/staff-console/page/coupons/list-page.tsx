import { useInfiniteQuery } from '@connectrpc/connect-query';
import { keepPreviousData } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { CouponService, type ListedCoupon } from '../../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { useNow } from '../business/time.tsx';
import { SelectField } from '../forms/select-field.tsx';
import { orderOf, sorted } from '../lists/column.ts';
import { CsvButton } from '../lists/csv-button.tsx';
import { useFilters } from '../lists/filters.ts';
import { ListView } from '../lists/list-view.tsx';
import { useReadPages } from '../lists/pages.ts';
import { useNarrowed } from '../lists/use-narrowed.ts';
import { useSearch } from '../lists/use-search.ts';
import { UserFilter } from '../lookup/user-filter.tsx';
import { ButtonLink } from '../ui/button.tsx';
import { Page } from '../ui/page.tsx';
import { readId } from '../ui/text.ts';
import { couponColumns, endOf } from './record/coupon-columns.tsx';
import { CouponViews } from './record/coupon-views.tsx';
import { stateOf } from './record/words.ts';

const states = [
  ['Valid', 'Valid'],
  ['Expired', 'Expired'],
  ['Invalidated', 'Invalidated'],
] as const;
const ends = [
  ['7', 'Within a week'],
  ['31', 'Within a month'],
  ['none', 'Never'],
] as const;
const dayMs = 86_400_000;

/** Lists the coupons: latest first, or as staff sort and filter them. */
export function Component(): ReactNode {
  const search = useSearch();
  const { values, set } = useFilters(['state', 'ends', 'user', 'sort']);
  const now = useNow(20_000);
  const order = orderOf({ values, set });
  const columns = couponColumns(now);
  const isWhole = [values.state, values.ends, values.sort].some((value) => value !== '');
  const userId = readId(values.user);
  const request = {
    ...(userId !== undefined && { userId }),
    search: search.search.trim(),
    limit: isWhole ? 1_000 : 50,
  };
  const query = useInfiniteQuery(
    CouponService.method.getAll,
    { ...request, pageToken: '' },
    {
      pageParamKey: 'pageToken',
      getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
      placeholderData: keepPreviousData,
    },
  );
  const matches = (coupon: ListedCoupon) =>
    (values.state === '' || stateOf(coupon, now) === values.state) && endsWithin(coupon, values.ends, now);
  const list = useNarrowed(
    { ...query, rows: query.data?.pages.flatMap(({ coupons }) => coupons) },
    (coupons) => sorted(coupons.filter(matches), columns, order),
    { key: JSON.stringify([request, values]), isWhole },
  );
  const readPages = useReadPages();
  const pages = (signal: AbortSignal) =>
    readPages(
      CouponService.method.getAll,
      (answer) =>
        answer?.nextPageToken === '' ? undefined : { ...request, limit: 1_000, pageToken: answer?.nextPageToken ?? '' },
      ({ coupons }) => coupons.filter(matches),
      signal,
    );
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
      <CouponViews search={search} label="Search by code">
        <SelectField
          label="State"
          name="state"
          none="Any"
          options={states}
          value={values.state}
          onChange={(state) => set({ state })}
        />
        <SelectField
          label="Ends"
          name="ends"
          none="At any time"
          options={ends}
          value={values.ends}
          onChange={(value) => set({ ends: value })}
        />
        <UserFilter value={values.user} onChange={(chosen) => set({ user: chosen })} />
        <CsvButton name="coupons" columns={columns} pages={pages} />
      </CouponViews>
      <ListView
        what="the coupons"
        empty={isFiltered ? 'No coupon matches.' : 'No coupons yet.'}
        caption={order.by === '' ? 'Latest first' : `By ${order.by.toLowerCase()}`}
        list={list}
        query={query}
        columns={columns}
        keyOf={({ id }) => id}
        order={order}
      />
    </Page>
  );
}

function endsWithin(coupon: ListedCoupon, ends: string, now: number): boolean {
  if (ends === '') return true;
  const end = endOf(coupon);
  return ends === 'none' ? end === Number.POSITIVE_INFINITY : end >= now && end < now + Number(ends) * dayMs;
}
