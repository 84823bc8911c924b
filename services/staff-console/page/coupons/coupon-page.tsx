import { useQuery } from '@connectrpc/connect-query';
import { Link } from 'react-aria-components/Link';
import { CouponBatchService } from '#gen/coupon/v1/coupon_batch_service_pb';
import { type CouponDetail, CouponService } from '#gen/coupon/v1/coupon_service_pb';
import { History } from '../audit/history.tsx';
import { Time, useNow } from '../business/time.tsx';
import { describeUser, isGone } from '../lookup/gone.ts';
import { Redemptions } from '../redemptions/redemptions.tsx';
import { ButtonLink } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Facts, Page, Problem, Section } from '../ui/page.tsx';
import { Read } from '../ui/read.tsx';
import { WithRecordId } from '../ui/record-id.tsx';
import { isolate } from '../ui/text.ts';
import { words } from '../words.ts';
import { Names, ProductNames } from './names.tsx';
import { productsOf, usersLeft } from './record/draft.ts';
import { useValidity } from './record/restore-button.tsx';
import { CouponBadge, Validity } from './record/validity.tsx';
import { describeAudience, describeDiscount, describeMinimum, describeUses, nameOfBatch } from './record/words.ts';
import { UsageSection, useUsage } from './usage-section.tsx';

const text = words.coupon;
const { terms } = text;

/** Shows a coupon: how it is used, its terms, its customers and products, and whether it can be used. */
export function Component() {
  return <WithRecordId>{(id) => <ReadCoupon key={id} id={id} />}</WithRecordId>;
}

function ReadCoupon({ id }: { readonly id: number }) {
  const query = useQuery(CouponService.method.getById, { id });
  const coupon = query.data?.coupon;
  const code = coupon?.couponCode ?? '';
  const used = useUsage(id).data?.usage[0]?.used;
  const now = useNow(20_000);
  const { invalidate, restore } = useValidity(id, code);
  return (
    <Page
      title={coupon === undefined ? text.one : text.titled(isolate(code))}
      beside={coupon && <CouponBadge coupon={coupon} now={now} used={used} />}
      actions={
        coupon !== undefined && (
          <>
            <CopyButton what={text.code} text={code} name={code} />
            <ButtonLink href={`/check?code=${encodeURIComponent(code)}`}>{text.check}</ButtonLink>
            <ButtonLink href={`/coupons/${id}/edit`} emphasis="primary">
              {text.edit}
            </ButtonLink>
          </>
        )
      }
      {...(coupon && {
        more: [
          { name: text.duplicate, href: `/coupons/new?like=${id}` },
          coupon.isInvalidated
            ? { name: text.restore, run: () => void restore() }
            : { name: text.invalidate, run: () => void invalidate() },
        ],
      })}
    >
      <Read
        query={{ ...query, data: coupon }}
        what={text.what}
        elsewhere={<ButtonLink href="/coupons">{text.all}</ButtonLink>}
      >
        {(shown) => (
          <div className="split">
            <div>
              {code !== code.toUpperCase() && <Problem failure={text.notFound} />}
              <UsageSection id={id} maxUses={shown.maxUses} />
              <Redemptions couponId={id} />
              <History type="coupon" id={id} />
            </div>
            <aside>
              <CouponFacts coupon={shown} />
            </aside>
          </div>
        )}
      </Read>
    </Page>
  );
}

function CouponFacts({ coupon }: { readonly coupon: CouponDetail }) {
  const { applicableUsers, maxLimitForUser = 0, batchId } = coupon;
  const products = productsOf(coupon);
  const hasBoth = Number(coupon.discountPercent ?? 0) > 0 && Number(coupon.flatDiscount ?? 0) > 0;
  return (
    <>
      <Section title={text.termsTitle}>
        <Facts
          rows={[
            [terms.discount, `${describeDiscount(coupon)}${hasBoth ? text.percentCounts : ''}`],
            [terms.minOrder, describeMinimum(coupon.minOrder)],
            [terms.customers, describeAudience(coupon, usersLeft(coupon))],
            [terms.valid, <Validity key="valid" {...coupon} />],
            [terms.perCustomer, maxLimitForUser > 0 ? maxLimitForUser : words.coupons.noLimit],
            [terms.uses, describeUses(coupon)],
            [terms.exclusive, coupon.exclusiveApply ? text.yes : text.no],
            [text.batch, batchId && <BatchLink key="batch" id={batchId} />],
            [text.createdBy, coupon.creator?.name],
            [words.coupons.created, <Time key="created" at={coupon.createdAt} />],
          ]}
        />
      </Section>
      {applicableUsers.length > 0 && (
        <Section title={terms.customers}>
          {coupon.isApplyForAll && <p className="hint">{text.notOnlyThese}</p>}
          <Names
            names={applicableUsers.map((user) => ({
              name: describeUser(user),
              ...(!isGone(user) && { href: `/users/${user.id}` }),
            }))}
          />
        </Section>
      )}
      <Section title={terms.products}>
        {products.length === 0 ? (
          <p>{text.allProducts}</p>
        ) : (
          <>
            <p>{text.onlyThese}</p>
            <ProductNames products={products} />
          </>
        )}
      </Section>
    </>
  );
}

function BatchLink({ id }: { readonly id: number }) {
  const batch = useQuery(CouponBatchService.method.getBatch, { id, limit: 1 }).data?.batch;
  return <Link href={`/coupons/batches/${id}`}>{nameOfBatch(batch ?? { id, name: '' })}</Link>;
}
