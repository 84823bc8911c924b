import { useQuery } from '@connectrpc/connect-query';
import type { ReactNode } from 'react';
import { Link } from 'react-aria-components/Link';
import { type CouponDetail, CouponService } from '../../../../shared/gen/coupon/v1/coupon_service_pb.ts';
import { History } from '../audit/history.tsx';
import { Time, useNow } from '../business/time.tsx';
import { describeUser, isGone } from '../lookup/gone.ts';
import { Redemptions } from '../redemptions/redemptions.tsx';
import { Usage } from '../redemptions/usage.tsx';
import { ButtonLink } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Facts, Page, Problem, Section } from '../ui/page.tsx';
import { Read } from '../ui/read.tsx';
import { WithRecordId } from '../ui/record-id.tsx';
import { isolate } from '../ui/text.ts';
import { Names, ProductNames } from './names.tsx';
import { productsOf, usersLeft } from './record/draft.ts';
import { CouponBadge, Validity } from './record/validity.tsx';
import { ValidityButton } from './record/validity-button.tsx';
import { describeAudience, describeDiscount, describeMinimum, describeUses } from './record/words.ts';
import './record/coupons.css';

/** Shows a coupon: its discount, its users and products, and whether it can be used. */
export function Component(): ReactNode {
  return <WithRecordId>{(id) => <ReadCoupon key={id} id={id} />}</WithRecordId>;
}

function ReadCoupon({ id }: { readonly id: number }): ReactNode {
  const query = useQuery(CouponService.method.getById, { id });
  const coupon = query.data?.coupon;
  const now = useNow(20_000);
  return (
    <Page
      title={coupon === undefined ? 'Coupon' : `Coupon ${isolate(coupon.couponCode)}`}
      beside={coupon !== undefined && <CouponBadge coupon={coupon} now={now} />}
      actions={
        coupon !== undefined && (
          <>
            <CopyButton what="code" text={coupon.couponCode} name={coupon.couponCode} />
            <ButtonLink href={`/check?code=${encodeURIComponent(coupon.couponCode)}`}>Check it</ButtonLink>
            <ButtonLink href={`/coupons/new?like=${id}`}>Duplicate</ButtonLink>
            <ButtonLink href={`/coupons/${id}/edit`} emphasis="primary">
              Edit
            </ButtonLink>
            <ValidityButton coupon={coupon} />
          </>
        )
      }
    >
      <Read
        query={{ ...query, data: coupon }}
        what="the coupon"
        elsewhere={<ButtonLink href="/coupons">All coupons</ButtonLink>}
      >
        {(shown) => (
          <>
            <CouponFacts coupon={shown} />
            <Usage couponId={id} />
            <Redemptions couponId={id} />
            <History type="coupon" id={id} />
          </>
        )}
      </Read>
    </Page>
  );
}

function CouponFacts({ coupon }: { readonly coupon: CouponDetail }): ReactNode {
  const { applicableUsers } = coupon;
  const products = productsOf(coupon);
  const isFound = coupon.couponCode === coupon.couponCode.toUpperCase();
  const hasBoth = Number(coupon.discountPercent ?? 0) > 0 && Number(coupon.flatDiscount ?? 0) > 0;
  return (
    <>
      {!isFound && (
        <Problem
          failure={{
            title: 'Customers can’t use this code',
            advice: 'It is looked up in capital letters, and has others. Edit it.',
          }}
        />
      )}
      <Section title="Terms">
        <Facts
          rows={[
            ['Discount', `${describeDiscount(coupon)}${hasBoth ? '. Its percentage counts, not its amount' : ''}`],
            ['Smallest order', describeMinimum(coupon.minOrder)],
            ['Valid until', <Validity key="until" {...coupon} />],
            ['For whom', describeAudience(coupon, usersLeft(coupon))],
            ['Uses for each user', coupon.maxLimitForUser || 'Any number'],
            ['Uses in all', describeUses(coupon)],
            ['Not with other coupons', coupon.exclusiveApply ? 'Yes' : 'No'],
            [
              'Batch',
              coupon.batchId && (
                <Link key="batch" href={`/coupons/batches/${coupon.batchId}`}>
                  Batch {coupon.batchId}
                </Link>
              ),
            ],
            ['Created by', coupon.creator?.name],
            ['Created', <Time key="created" at={coupon.createdAt} />],
          ]}
        />
      </Section>
      {applicableUsers.length > 0 && (
        <Section title="Users">
          {coupon.isApplyForAll && <p className="hint">Everyone may use it, not only these.</p>}
          <Names
            names={applicableUsers.map((user) => ({
              name: describeUser(user),
              ...(!isGone(user) && { href: `/users/${user.id}` }),
            }))}
          />
        </Section>
      )}
      <Section title="Products">
        {products.length === 0 ? (
          <p>All products.</p>
        ) : (
          <>
            <p>Only for these products:</p>
            <ProductNames products={products} />
          </>
        )}
      </Section>
    </>
  );
}
