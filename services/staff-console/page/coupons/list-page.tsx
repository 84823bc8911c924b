import { useInfiniteQuery } from '@connectrpc/connect-query';
import { keepPreviousData } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'react-aria-components/Link';
import { CouponService, type ListedCoupon } from '../../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { describeFailure } from '../rpc/failure.ts';
import { ButtonLink } from '../ui/button.tsx';
import { Endless } from '../ui/endless.tsx';
import { Empty, Loading, Page, Problem } from '../ui/page.tsx';
import { useNow } from '../ui/time.tsx';
import { useSearch } from '../ui/use-search.ts';
import { CouponViews } from './record/coupon-views.tsx';
import { CouponBadge, ValidUntil } from './record/validity.tsx';
import { describeAudience, describeDiscount, describeMinimum } from './record/words.ts';
import './record/coupons.css';

/** Lists the coupons, latest first. */
export function Component(): ReactNode {
  const search = useSearch();
  const { data, error, refetch, fetchNextPage, hasNextPage, isFetchingNextPage } = useInfiniteQuery(
    CouponService.method.getAll,
    { search: search.search, limit: 50, pageToken: '' },
    {
      pageParamKey: 'pageToken',
      getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
      placeholderData: keepPreviousData,
    },
  );
  const now = useNow(20_000);
  const coupons = data?.pages.flatMap((page) => page.coupons);
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
      <CouponViews search={search} label="Search by code" />
      {error !== null && <Problem failure={describeFailure(error)} onRetry={() => void refetch()} />}
      {coupons === undefined && error === null && <Loading what="the coupons" />}
      {coupons?.length === 0 && <Empty>{search.search === '' ? 'No coupons yet.' : 'No coupon has this code.'}</Empty>}
      {coupons !== undefined && coupons.length > 0 && (
        <table className="list">
          <caption>Latest first</caption>
          <thead>
            <tr>
              <th scope="col">Code</th>
              <th scope="col">Gives</th>
              <th scope="col">Smallest order</th>
              <th scope="col">Valid until</th>
              <th scope="col">For whom</th>
              <th scope="col">State</th>
            </tr>
          </thead>
          <tbody>
            {coupons.map((coupon) => (
              <CouponRow key={coupon.id} coupon={coupon} now={now} />
            ))}
          </tbody>
        </table>
      )}
      <Endless
        hasMore={hasNextPage}
        isLoading={isFetchingNextPage}
        hasFailed={error !== null}
        onMore={() => void fetchNextPage()}
      />
    </Page>
  );
}

function CouponRow({ coupon, now }: { readonly coupon: ListedCoupon; readonly now: number }): ReactNode {
  return (
    <tr>
      <th scope="row" className="coupon-code">
        <Link href={`/coupons/${coupon.id}`}>{coupon.couponCode}</Link>
      </th>
      <td data-label="Gives">{describeDiscount(coupon)}</td>
      <td data-label="Smallest order">{describeMinimum(coupon.minOrder)}</td>
      <td data-label="Valid until">
        <ValidUntil at={coupon.validTill} />
      </td>
      <td data-label="For whom">{describeAudience(coupon, coupon.applicableUsersCount)}</td>
      <td data-label="State">
        <CouponBadge coupon={coupon} now={now} />
      </td>
    </tr>
  );
}
