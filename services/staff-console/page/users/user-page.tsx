import { useInfiniteQuery, useQuery } from '@connectrpc/connect-query';
import type { ReactNode } from 'react';
import { CatalogService } from '../../../../shared/gen/catalog/v1/catalog_service_pb.ts';
import { CouponService } from '../../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { useNow } from '../business/time.tsx';
import { couponColumns } from '../coupons/record/coupon-columns.tsx';
import { reservedColumns } from '../coupons/record/reserved-columns.tsx';
import { ListView } from '../lists/list-view.tsx';
import { useNarrowed } from '../lists/use-narrowed.ts';
import { describeFailure } from '../rpc/failure.ts';
import { ButtonLink } from '../ui/button.tsx';
import { Facts, Loading, Page, Problem, Section } from '../ui/page.tsx';
import { WithRecordId } from '../ui/record-id.tsx';
import { isolate } from '../ui/text.ts';

/** Shows a user: the coupons that are for them, and the reserved ones that they have redeemed. */
export function Component(): ReactNode {
  return <WithRecordId>{(id) => <ReadUser key={id} id={id} />}</WithRecordId>;
}

function ReadUser({ id }: { readonly id: number }): ReactNode {
  const { data, error, refetch } = useQuery(CatalogService.method.getUsers, { userIds: [id] });
  const user = data?.users[0];
  return (
    <Page
      title={user === undefined ? `User ${id}` : isolate(user.name)}
      actions={
        user !== undefined && (
          <ButtonLink href={`/coupons/phone?mobile=${encodeURIComponent(user.mobile)}`}>
            Coupon for this number
          </ButtonLink>
        )
      }
    >
      {error !== null && <Problem failure={describeFailure(error)} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading what="the user" />}
      {data !== undefined && user === undefined && (
        <Problem failure={{ title: 'User not found', advice: 'It may have another number, or never have existed.' }}>
          <ButtonLink href="/users">All users</ButtonLink>
        </Problem>
      )}
      {user !== undefined && (
        <>
          <Section title="User">
            <Facts
              rows={[
                ['Mobile number', user.mobile],
                ['User number', user.id],
              ]}
            />
          </Section>
          <Coupons userId={id} />
          <ReservedCoupons userId={id} />
        </>
      )}
    </Page>
  );
}

const paging = {
  pageParamKey: 'pageToken',
  getNextPageParam: ({ nextPageToken }: { readonly nextPageToken: string }) => nextPageToken || undefined,
} as const;
const asRead = <Row,>(rows: readonly Row[]) => rows;

function Coupons({ userId }: { readonly userId: number }): ReactNode {
  const query = useInfiniteQuery(CouponService.method.getAll, { userId, limit: 50, pageToken: '' }, paging);
  const rows = query.data?.pages.flatMap(({ coupons }) => coupons);
  const list = useNarrowed({ ...query, rows }, asRead, { key: '', isWhole: false });
  return (
    <Section title="Coupons for this user">
      <ListView
        what="the coupons"
        empty="No coupon names this user. Coupons for everyone are not listed here."
        caption="Latest first"
        list={list}
        query={query}
        columns={couponColumns(useNow(20_000))}
        keyOf={({ id }) => id}
      />
    </Section>
  );
}

function ReservedCoupons({ userId }: { readonly userId: number }): ReactNode {
  const query = useInfiniteQuery(CouponService.method.getReservedCoupons, { userId, limit: 50, pageToken: '' }, paging);
  const rows = query.data?.pages.flatMap(({ coupons }) => coupons);
  const list = useNarrowed({ ...query, rows }, asRead, { key: '', isWhole: false });
  return (
    <Section title="Reserved coupons redeemed">
      <ListView
        what="the reserved coupons"
        empty="This user has redeemed no reserved coupon."
        caption="Latest first"
        list={list}
        query={query}
        columns={reservedColumns(useNow(20_000))}
        keyOf={({ id }) => id}
      />
    </Section>
  );
}
