import { useQuery } from '@connectrpc/connect-query';
import { type CouponBatch, CouponBatchService, type GetBatchResponse } from '#gen/coupon/v1/coupon_batch_service_pb';
import { History } from '../../audit/history.tsx';
import { currencyDigits, formatAmount } from '../../business/money.ts';
import { Time } from '../../business/time.tsx';
import { useStaff } from '../../lookup/names.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Facts, Page, Section } from '../../ui/page.tsx';
import { Read } from '../../ui/read.tsx';
import { WithRecordId } from '../../ui/record-id.tsx';
import { words } from '../../words.ts';
import { describeTerms } from '../record/summary.ts';
import { nameOfBatch } from '../record/words.ts';
import { BatchCodes } from './batch-codes.tsx';
import { EndButton } from './end-button.tsx';

const text = words.coupons.batches;

/** Shows a batch and its coupons. */
export function Component() {
  return <WithRecordId>{(id) => <ReadBatch key={id} id={id} />}</WithRecordId>;
}

function ReadBatch({ id }: { readonly id: number }) {
  const query = useQuery(CouponBatchService.method.getBatch, { id, limit: 1, withUsage: true });
  const batch = query.data?.batch;
  return (
    <Page
      title={batch === undefined ? text.one : nameOfBatch(batch)}
      actions={
        batch !== undefined && (
          <>
            <ButtonLink href={`/coupons?batch=${id}`}>{text.filter}</ButtonLink>
            <EndButton batch={batch} />
          </>
        )
      }
    >
      <Read query={query} what={text.theBatch} elsewhere={<ButtonLink href="/coupons/batches">{text.all}</ButtonLink>}>
        {(answer) => answer.batch && <BatchSections batch={answer.batch} answer={answer} />}
      </Read>
    </Page>
  );
}

function BatchSections({ batch, answer }: { readonly batch: CouponBatch; readonly answer: GetBatchResponse }) {
  const { id, count, invalidated, createdBy, createdAt } = batch;
  const staff = useStaff();
  const { uses, discountGiven } = answer;
  const [coupon] = answer.coupons;
  return (
    <div className="split">
      <div>
        <Section title={text.codesTitle}>
          <BatchCodes id={id} />
        </Section>
        <History type="coupon_batch" id={id} />
      </div>
      <aside>
        <Section title={text.one}>
          <Facts
            rows={[
              [words.coupons.used, uses !== undefined && text.usedOf(uses, count)],
              [words.coupon.usage.given, discountGiven && formatAmount(discountGiven, currencyDigits())],
              [text.codesTitle, count.toLocaleString('en')],
              [words.coupons.states.ended, invalidated.toLocaleString('en')],
              [words.coupon.createdBy, staff.get(createdBy) ?? words.coupon.staff(createdBy)],
              [words.coupons.created, <Time key="created" at={createdAt} />],
              [text.number, id],
            ]}
          />
        </Section>
        {coupon !== undefined && (
          <Section title={words.coupon.termsTitle}>
            <p>{describeTerms(coupon)}.</p>
          </Section>
        )}
      </aside>
    </div>
  );
}
