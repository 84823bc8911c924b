import { useInfiniteQuery } from '@connectrpc/connect-query';
import { keepPreviousData } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'react-aria-components/Link';
import { CouponService, type ListedReservedCoupon } from '../../../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { trailAddress } from '../../audit/trail/filters.ts';
import { describeFailure } from '../../rpc/failure.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Endless } from '../../ui/endless.tsx';
import { Badge, Empty, Loading, Page, Problem } from '../../ui/page.tsx';
import { useNow } from '../../ui/time.tsx';
import { useSearch } from '../../ui/use-search.ts';
import { CouponViews } from '../record/coupon-views.tsx';
import { CouponBadge, ValidUntil } from '../record/validity.tsx';
import { describeDiscount, describeMinimum } from '../record/words.ts';
import '../record/coupons.css';

/** Lists the reserved coupons, latest first. */
export function Component(): ReactNode {
  const search = useSearch();
  const { data, error, refetch, fetchNextPage, hasNextPage, isFetchingNextPage } = useInfiniteQuery(
    CouponService.method.getReservedCoupons,
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
      title="Reserved coupons"
      actions={
        <ButtonLink href="/coupons/reserved/new" emphasis="primary">
          New reserved coupon
        </ButtonLink>
      }
    >
      <CouponViews search={search} label="Search by secret code or code" />
      {error !== null && <Problem failure={describeFailure(error)} onRetry={() => void refetch()} />}
      {coupons === undefined && error === null && <Loading what="the reserved coupons" />}
      {coupons?.length === 0 && (
        <Empty>{search.search === '' ? 'No reserved coupons yet.' : 'No reserved coupon has this code.'}</Empty>
      )}
      {coupons !== undefined && coupons.length > 0 && (
        <table className="list">
          <caption>Latest first. A secret code leads to the history of its coupon.</caption>
          <thead>
            <tr>
              <th scope="col">Secret code</th>
              <th scope="col">Code</th>
              <th scope="col">Gives</th>
              <th scope="col">Smallest order</th>
              <th scope="col">Valid until</th>
              <th scope="col">Redeemed by</th>
              <th scope="col">State</th>
            </tr>
          </thead>
          <tbody>
            {coupons.map((coupon) => (
              <ReservedRow key={coupon.id} coupon={coupon} now={now} />
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

function ReservedRow({ coupon, now }: { readonly coupon: ListedReservedCoupon; readonly now: number }): ReactNode {
  const { redeemedUser } = coupon;
  return (
    <tr>
      <th scope="row" className="coupon-code">
        <Link href={trailAddress({ type: 'reserved_coupon', id: String(coupon.id) })}>{coupon.secretCode}</Link>
      </th>
      <td data-label="Code" className="coupon-code">
        {coupon.couponCode}
      </td>
      <td data-label="Gives">{describeDiscount(coupon)}</td>
      <td data-label="Smallest order">{describeMinimum(coupon.minOrder)}</td>
      <td data-label="Valid until">
        <ValidUntil at={coupon.validTill} />
      </td>
      <td data-label="Redeemed by">
        {redeemedUser === undefined ? 'Nobody yet' : `${redeemedUser.name || 'Unknown'}, ${redeemedUser.mobile}`}
      </td>
      <td data-label="State">
        {redeemedUser === undefined ? <CouponBadge coupon={coupon} now={now} /> : <Badge kind="plain">Redeemed</Badge>}
      </td>
    </tr>
  );
}
