import { useQuery } from '@connectrpc/connect-query';
import { CatalogService, type CatalogUser } from '#gen/catalog/v1/catalog_service_pb';
import { CouponService, type ListedCoupon } from '#gen/coupon/v1/coupon_service_pb';
import { RedemptionService, RedemptionState } from '#gen/coupon/v1/redemption_service_pb';
import { useNow } from '../business/time.tsx';
import { codeColumn, secretColumn, stateColumn, termsColumns } from '../coupons/record/columns.tsx';
import type { Column } from '../lists/column.tsx';
import { List } from '../lists/list.tsx';
import { Bookings } from '../redemptions/bookings.tsx';
import { Redemptions } from '../redemptions/redemptions.tsx';
import { ButtonLink } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Facts, forRecord, Page, Problem, Read, Section } from '../ui/page.tsx';
import { isolate } from '../ui/text.ts';
import { words } from '../words.ts';

const text = words.customers;
const rowsOf = <Row,>({ coupons }: { readonly coupons: readonly Row[] }) => coupons;

/** Shows a customer: their own coupons with the uses, their redemptions and bookings, and the codes that they claimed. */
export const Component = forRecord(function ReadUser({ id }) {
  const query = useQuery(CatalogService.method.getUsers, { userIds: [id] });
  const user = query.data?.users[0];
  const mobile = user?.mobile ?? '';
  return (
    <Page
      title={user === undefined ? words.lookup.customer(id) : isolate(user.name)}
      beside={
        mobile !== '' && (
          <>
            <a href={`tel:${mobile}`}>{mobile}</a> <CopyButton what={text.copied} text={mobile} name={mobile} />
          </>
        )
      }
    >
      <Read query={query} what={text.one}>
        {() =>
          user === undefined ? (
            <Problem failure={text.notFound}>
              <ButtonLink href="/users">{text.all}</ButtonLink>
            </Problem>
          ) : (
            <UserSections user={user} />
          )
        }
      </Read>
    </Page>
  );
});

function UserSections({ user: { id, mobile } }: { readonly user: CatalogUser }) {
  const now = useNow(20_000);
  const request = { userId: id };
  const usedColumn = useUsedColumn(id);
  return (
    <div className="split">
      <div>
        <Section title={text.coupons}>
          <List
            source={{ method: CouponService.method.getAll, request, rowsOf }}
            what={words.coupons.bulk.what}
            empty={text.noCoupons}
            caption={words.newestFirst}
            columns={[codeColumn, ...termsColumns.slice(0, 1), usedColumn, ...termsColumns.slice(2), stateColumn(now)]}
          />
        </Section>
        <Redemptions userId={id} />
        <Bookings userId={id} />
        <Section title={text.claimed}>
          <List
            source={{ method: CouponService.method.getReservedCoupons, request, rowsOf }}
            what={text.claimedWhat}
            empty={text.noneClaimed}
            caption={words.newestFirst}
            columns={[secretColumn, ...termsColumns]}
          />
        </Section>
      </div>
      <aside>
        <Section title={words.fields.userId}>
          <Facts rows={[[text.number, id]]} />
          <div className="actions">
            <ButtonLink href={`/check?user=${id}`}>{words.check.title}</ButtonLink>
            {mobile !== '' && (
              <ButtonLink href={`/coupons/phone?mobile=${encodeURIComponent(mobile)}`}>{text.forNumber}</ButtonLink>
            )}
          </div>
        </Section>
      </aside>
    </div>
  );
}

const countedMost = 1_000;

/** Returns the column that tells how often a customer has used or holds a coupon, of how often they may. */
function useUsedColumn(userId: number): Column<ListedCoupon> {
  const states = [RedemptionState.HELD, RedemptionState.USED];
  const { data } = useQuery(RedemptionService.method.listRedemptions, { userId, states, limit: countedMost });
  // Of more than can be counted, nothing is told.
  const live = data?.nextPageToken === '' ? data.redemptions : undefined;
  const used = (coupon: ListedCoupon) => live?.filter(({ couponId }) => couponId === coupon.id).length ?? '–';
  return {
    title: words.fields.usedAt,
    text: (coupon) => text.usedOf(used(coupon), coupon.maxLimitForUser),
    className: 'number',
  };
}
