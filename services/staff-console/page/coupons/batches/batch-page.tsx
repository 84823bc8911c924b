import { useQuery } from '@connectrpc/connect-query';
import { type CouponBatch, CouponBatchService } from '#gen/coupon/v1/coupon_batch_service_pb';
import { History } from '../../audit/history.tsx';
import { currencyDigits, formatAmount } from '../../business/money.ts';
import { Time } from '../../business/time.tsx';
import { useQuestion } from '../../forms/question.tsx';
import { useStaff } from '../../lookup/names.ts';
import { useWrite } from '../../rpc/write.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Badge, Facts, forRecord, Page, Read, Section } from '../../ui/page.tsx';
import { counted, words } from '../../words.ts';
import { describeTerms, nameOfBatch } from '../record/words.ts';
import { BatchCodes } from './batch-codes.tsx';

const text = words.coupons.batches;

/** Shows a batch and its coupons. */
export const Component = forRecord(function ReadBatch({ id }) {
  const staff = useStaff();
  const query = useQuery(CouponBatchService.method.getBatch, { id, limit: 1, withUsage: true });
  const batch = query.data?.batch;
  return (
    <Page
      title={batch === undefined ? text.one : nameOfBatch(batch)}
      beside={batch?.count === batch?.invalidated && batch && <Badge kind="bad">{words.coupons.states.ended}</Badge>}
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
        {({ uses, discountGiven, coupons: [coupon] }) =>
          batch && (
            <div className="split">
              <div>
                <Section title={words.fields.count}>
                  <BatchCodes id={id} />
                </Section>
                <History type="coupon_batch" id={id} />
              </div>
              <aside>
                <Section title={text.one}>
                  <Facts
                    rows={[
                      [words.fields.usedAt, uses !== undefined && text.usedOf(uses, batch.count)],
                      [words.coupon.usage.given, discountGiven && formatAmount(discountGiven, currencyDigits())],
                      [words.fields.count, batch.count.toLocaleString('en')],
                      [words.coupons.states.ended, batch.invalidated.toLocaleString('en')],
                      [words.fields.createdBy, staff.get(batch.createdBy) ?? words.coupon.staff(batch.createdBy)],
                      [words.fields.createdAt, <Time key="created" at={batch.createdAt} />],
                      [text.number, id],
                    ]}
                  />
                </Section>
                {coupon !== undefined && (
                  <Section title={words.coupon.termsTitle}>
                    <p>{describeTerms(coupon)}</p>
                  </Section>
                )}
              </aside>
            </div>
          )
        }
      </Read>
    </Page>
  );
});

/** Invalidates the coupons of a batch that are still valid, after a question, because it can't be undone at once. */
function EndButton({ batch }: { readonly batch: CouponBatch }) {
  const name = nameOfBatch(batch);
  const end = useWrite(
    CouponBatchService.method.invalidateBatch,
    ({ invalidated }) => ({ text: text.ended(name, counted(invalidated, text.codes)) }),
    name,
  );
  const left = batch.count - batch.invalidated;
  const send = async () => {
    const { failure } = await end.send({ id: batch.id });
    // The keyboard continues at the heading, because the button that was pressed is gone.
    if (failure === undefined) document.querySelector('h1')?.focus();
  };
  const concern = text.endExplained(counted(left, text.codes));
  const { ask, question } = useQuestion([concern], false, text.end, () => void send());
  if (left === 0) return null;
  return (
    <>
      <Button emphasis="danger" isPending={end.isPending} onPress={ask}>
        {end.isPending ? text.ending : text.end}
      </Button>
      {question}
    </>
  );
}
