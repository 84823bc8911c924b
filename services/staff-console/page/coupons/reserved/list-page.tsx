import { useInfiniteQuery } from '@connectrpc/connect-query';
import { keepPreviousData } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { CouponService, type ListedReservedCoupon } from '../../../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { describeFailure } from '../../rpc/failure.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Endless } from '../../ui/endless.tsx';
import { Badge, Empty, Loading, Page, Problem } from '../../ui/page.tsx';
import { useNow } from '../../ui/time.tsx';
import { useSearch } from '../../ui/use-search.ts';
import { CouponViews } from '../coupon-views.tsx';
import { CouponBadge, ValidUntil } from '../validity.tsx';
import { describeDiscount, describeMinimum } from '../words.ts';
import '../coupons.css';

/** The reserved coupons, latest first. */
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
      <ul className="coupon-rows" aria-label="Reserved coupons">
        {coupons?.map((coupon) => (
          <ReservedRow key={coupon.id} coupon={coupon} now={now} />
        ))}
      </ul>
      <Endless hasMore={hasNextPage} isLoading={isFetchingNextPage} onMore={() => void fetchNextPage()} />
    </Page>
  );
}

function ReservedRow({ coupon, now }: { readonly coupon: ListedReservedCoupon; readonly now: number }): ReactNode {
  const { redeemedUser } = coupon;
  return (
    <li className="coupon-row">
      <span>
        <span className="coupon-code">{coupon.secretCode}</span>
        {coupon.couponCode !== coupon.secretCode && <span className="detail"> for {coupon.couponCode}</span>}
      </span>
      <span>{describeDiscount(coupon)}</span>
      <span>{describeMinimum(coupon.minOrder)}</span>
      <span>
        <ValidUntil at={coupon.validTill} />
      </span>
      <span>
        {redeemedUser === undefined
          ? 'Not redeemed yet'
          : `Redeemed by ${redeemedUser.name || 'Unknown'}, ${redeemedUser.mobile}`}
      </span>
      {redeemedUser === undefined ? <CouponBadge coupon={coupon} now={now} /> : <Badge kind="plain">Redeemed</Badge>}
    </li>
  );
}
