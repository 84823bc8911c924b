import { useQuery } from '@connectrpc/connect-query';
import type { ReactNode } from 'react';
import { CatalogService, type CatalogUser } from '../../../../shared/gen/catalog/v1/catalog_service_pb.ts';
import { CouponService } from '../../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { useNow } from '../business/time.tsx';
import { couponColumns } from '../coupons/record/coupon-columns.tsx';
import { reservedColumns } from '../coupons/record/reserved-columns.tsx';
import { List } from '../lists/list.tsx';
import { byToken } from '../lists/source.ts';
import { Redemptions } from '../redemptions/redemptions.tsx';
import { ButtonLink } from '../ui/button.tsx';
import { Facts, Page, Problem, Section } from '../ui/page.tsx';
import { Read } from '../ui/read.tsx';
import { WithRecordId } from '../ui/record-id.tsx';
import { isolate } from '../ui/text.ts';

/** Shows a user: the coupons that are for them, the reserved ones that they have redeemed, and their redemptions. */
export function Component(): ReactNode {
  return <WithRecordId>{(id) => <ReadUser key={id} id={id} />}</WithRecordId>;
}

const rowsOf = <Row,>({ coupons }: { readonly coupons: readonly Row[] }) => coupons;

function ReadUser({ id }: { readonly id: number }): ReactNode {
  const query = useQuery(CatalogService.method.getUsers, { userIds: [id] });
  const user = query.data?.users[0];
  return (
    <Page
      title={user === undefined ? `User ${id}` : isolate(user.name)}
      actions={
        user !== undefined && (
          <>
            <ButtonLink href={`/check?user=${id}`}>Check a coupon</ButtonLink>
            <ButtonLink href={`/coupons/phone?mobile=${encodeURIComponent(user.mobile)}`}>
              Coupon for this number
            </ButtonLink>
          </>
        )
      }
    >
      <Read query={query} what="the user">
        {({ users: [found] }) =>
          found === undefined ? (
            <Problem
              failure={{ title: 'User not found', advice: 'It may have another number, or never have existed.' }}
            >
              <ButtonLink href="/users">All users</ButtonLink>
            </Problem>
          ) : (
            <UserSections user={found} />
          )
        }
      </Read>
    </Page>
  );
}

function UserSections({ user: { id, mobile } }: { readonly user: CatalogUser }): ReactNode {
  const now = useNow(20_000);
  const request = { userId: id, limit: 50 };
  return (
    <>
      <Section title="User">
        <Facts
          rows={[
            ['Mobile number', mobile],
            ['User number', id],
          ]}
        />
      </Section>
      <Section title="Coupons for this user">
        <List
          source={{ method: CouponService.method.getAll, request, rowsOf, next: byToken }}
          what="coupons"
          empty="No coupon names this user. Coupons for everyone are not listed here."
          caption="Latest first"
          columns={couponColumns(now)}
          keyOf={(coupon) => coupon.id}
        />
      </Section>
      <Section title="Reserved coupons redeemed">
        <List
          source={{ method: CouponService.method.getReservedCoupons, request, rowsOf, next: byToken }}
          what="reserved coupons"
          empty="This user has redeemed no reserved coupon."
          caption="Latest first"
          columns={reservedColumns(now)}
          keyOf={(coupon) => coupon.id}
        />
      </Section>
      <Redemptions userId={id} />
    </>
  );
}
