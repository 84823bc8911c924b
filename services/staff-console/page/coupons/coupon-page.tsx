import { useQuery } from '@connectrpc/connect-query';
import { type ReactNode, useState } from 'react';
import { Link } from 'react-aria-components/Link';
import { CouponBatchService } from '#gen/coupon/v1/coupon_batch_service_pb';
import { type CouponDetail, CouponService } from '#gen/coupon/v1/coupon_service_pb';
import { type CouponUsage, RedemptionService } from '#gen/coupon/v1/redemption_service_pb';
import { History } from '../audit/history.tsx';
import { currencyDigits, formatAmount } from '../business/money.ts';
import { Time, useNow } from '../business/time.tsx';
import type { Option } from '../forms/pick-many.tsx';
import { describeUser, isGone, useProductNames } from '../lookup/names.ts';
import { Redemptions } from '../redemptions/redemptions.tsx';
import { Button, ButtonLink } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Facts, forRecord, Page, Problem, Read, Section } from '../ui/page.tsx';
import { isolate } from '../ui/text.ts';
import { words } from '../words.ts';
import { badgeOf } from './record/columns.tsx';
import { productsOf, usersLeft } from './record/draft.ts';
import { useValidity } from './record/use-validity.ts';
import { describeAudience, describeDiscount, describeMinimum, describeUses, nameOfBatch } from './record/words.ts';

const text = words.coupon;

/** Shows a coupon: how it is used, its terms, its customers and products, and whether it can be used. */
export const Component = forRecord(function ReadCoupon({ id }) {
  const query = useQuery(CouponService.method.getById, { id });
  const coupon = query.data?.coupon;
  const code = coupon?.couponCode ?? '';
  // Holds run out while the page is open, too.
  const usage = useQuery(RedemptionService.method.getUsage, { couponIds: [id] }, { refetchInterval: 20_000 });
  const used = usage.data?.usage[0];
  const now = useNow(20_000);
  const { invalidate, restore } = useValidity(id, code);
  return (
    <Page
      title={coupon === undefined ? words.fields.couponId : text.titled(isolate(code))}
      beside={coupon && badgeOf(coupon, now, used?.used)}
      actions={
        coupon !== undefined && (
          <>
            <CopyButton what={text.code} text={code} name={code} />
            <ButtonLink href={`/check?code=${encodeURIComponent(code)}`}>{text.check}</ButtonLink>
            <ButtonLink href={`/coupons/${id}/edit`} emphasis="primary">
              {words.edit}
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
              <Section title={text.usage.title}>
                <Read query={{ ...usage, data: used }} what={text.usage.what}>
                  {(counts) => <Usage counts={counts} most={shown.maxUses ?? 0} />}
                </Read>
              </Section>
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
});

/** Shows how often a coupon was used, of how many times, and what it has taken off orders. */
function Usage({ counts, most }: { readonly counts: CouponUsage; readonly most: number }) {
  const { usage } = text;
  return (
    <>
      <Facts
        rows={[
          [words.fields.usedAt, words.coupons.usedOf(counts.used, most)],
          [usage.given, formatAmount(counts.discountUsed, currencyDigits())],
          [usage.held, counts.held],
          [words.orders.states.returned, counts.released],
          [usage.expired, counts.expired],
        ]}
      />
      {most > 0 && <progress aria-label={usage.title} value={counts.used} max={most} />}
    </>
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
            [words.fields.discountAmount, `${describeDiscount(coupon)}${hasBoth ? text.percentCounts : ''}`],
            [words.fields.minOrder, describeMinimum(coupon.minOrder)],
            [words.fields.applicableUsers, describeAudience(coupon, usersLeft(coupon))],
            [words.fields.validTill, validityOf(coupon)],
            [words.fields.maxLimitForUser, maxLimitForUser > 0 ? maxLimitForUser : words.noLimit],
            [words.fields.maxUses, describeUses(coupon)],
            [words.fields.exclusiveApply, coupon.exclusiveApply ? words.yes : words.no],
            [words.coupons.batches.one, batchId && <BatchLink key="batch" id={batchId} />],
            [words.fields.createdBy, coupon.creator?.name],
            [words.fields.createdAt, <Time key="created" at={coupon.createdAt} />],
          ]}
        />
      </Section>
      {applicableUsers.length > 0 && (
        <Section title={words.fields.applicableUsers}>
          {coupon.isApplyForAll && <p className="detail">{text.notOnlyThese}</p>}
          <Names
            records={applicableUsers.map((user) => ({
              ...{ id: user.id, name: describeUser(user) },
              ...(!isGone(user) && { href: `/users/${user.id}` }),
            }))}
          />
        </Section>
      )}
      <Section title={words.fields.productIds}>
        <p>{products.length === 0 ? text.allProducts : text.onlyThese}</p>
        {products.length > 0 && <Names records={products} />}
      </Section>
    </>
  );
}

/** Shows until when a coupon can be used and, if it has a start, from when on. */
function validityOf({ startsAt, validTill }: CouponDetail): ReactNode {
  const { until, noEnd } = words.coupons;
  const end = validTill === undefined ? noEnd : <Time at={validTill} />;
  if (startsAt === undefined) return end;
  return (
    <>
      {words.from} <Time at={startsAt} />
      <br />
      {validTill && until} {end}
    </>
  );
}

function BatchLink({ id }: { readonly id: number }) {
  const batch = useQuery(CouponBatchService.method.getBatch, { id, limit: 1 }).data?.batch;
  return <Link href={`/coupons/batches/${id}`}>{nameOfBatch(batch ?? { id, name: '' })}</Link>;
}

const namesAtOnce = 10;

/** Lists names, a few at a time, because there may be very many. One that is empty is a product's, and is read then. */
function Names({ records }: { readonly records: readonly (Option & { readonly href?: string })[] }) {
  const [count, setCount] = useState(namesAtOnce);
  const shown = records.slice(0, count);
  const nameOf = useProductNames(shown.filter(({ name }) => name === '').map(({ id }) => id));
  return (
    <>
      <ul className="plain">
        {shown.map(({ id, name, href }) => (
          <li key={id}>{href === undefined ? name || nameOf(id) : <Link href={href}>{name}</Link>}</li>
        ))}
      </ul>
      {records.length > count && (
        <Button onPress={() => setCount(count + namesAtOnce)}>{text.moreNames(count, records.length)}</Button>
      )}
    </>
  );
}
