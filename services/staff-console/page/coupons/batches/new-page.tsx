import { useState } from 'react';
import { Navigate } from 'react-router';
import { CouponBatchService } from '#gen/coupon/v1/coupon_batch_service_pb';
import { TextField } from '../../forms/text-field.tsx';
import { isSame } from '../../rpc/merge.ts';
import { useWrite } from '../../rpc/write.ts';
import { Page, Section } from '../../ui/page.tsx';
import { counted, words } from '../../words.ts';
import { CouponForm } from '../form/coupon-form.tsx';
import { blankDraft, changesOf, newDraft, usersOf } from '../record/draft.ts';
import { describeDraft } from '../record/words.ts';

const text = words.coupons.batches;

/** All codes together have at most as many links to users and products (design 13). */
const mostLinks = 100_000;

/** The codes are for one use each unless staff say otherwise: whoever learns one could use it. */
const blankBatch = { ...newDraft, maxUses: '1', name: '', count: '', prefix: '', codeLength: '10' };

/** Creates many coupons with random codes. */
export function Component() {
  const [draft, setDraft] = useState(blankBatch);
  const [createdId, setCreatedId] = useState<number>();
  const create = useWrite(CouponBatchService.method.createBatch, ({ batch }) => ({
    text: text.made(counted(batch?.count ?? 0, text.codes)),
  }));
  const field = (
    name: 'name' | 'count' | 'prefix' | 'codeLength',
    validate = (_typed: string): string | undefined => undefined,
  ) => ({
    ...{ name, validate, autoComplete: 'off', value: draft[name] },
    onChange: (typed: string) => setDraft({ ...draft, [name]: typed }),
  });
  const count = Number(digitsOf(draft.count));
  const codes = counted(count, text.codes);
  const links = usersOf(draft).length + draft.products.length;
  const most = Math.min(10_000, Math.floor(mostLinks / Math.max(1, links)));
  const allowed = text.countProblem(most, most === 10_000 ? 0 : links);
  const send = async () => {
    const { answer } = await create.send({
      name: draft.name.trim(),
      coupon: changesOf(blankDraft, draft),
      count,
      prefix: draft.prefix.toUpperCase(),
      codeLength: Number(digitsOf(draft.codeLength)),
    });
    setCreatedId(answer?.batch?.id);
  };
  if (createdId !== undefined) return <Navigate to={`/coupons/batches/${createdId}`} replace />;
  return (
    <Page title={text.newOne}>
      <CouponForm
        kind="batch"
        draft={draft}
        change={(part) => setDraft({ ...draft, ...part })}
        start={blankBatch}
        action={text.create}
        pending={text.creating(codes)}
        isDirty={!isSame(blankBatch, draft)}
        summary={`${text.summary(codes)} ${describeDraft(draft)}`}
        write={create}
        onSend={() => void send()}
        back="/coupons/batches"
      >
        <Section title={text.codesTitle}>
          <div className="row">
            <TextField label={text.name} hint={text.nameHint} maxLength={128} {...field('name')} />
            <TextField label={text.count} inputMode="numeric" {...field('count', within(1, most, allowed))} />
            <TextField
              label={text.prefix}
              hint={text.prefixHint}
              isUpperCase
              maxLength={16}
              {...field('prefix', prefixProblem)}
            />
            <TextField
              label={text.length}
              hint={text.lengthHint}
              inputMode="numeric"
              {...field('codeLength', within(8, 32, text.lengthProblem))}
            />
          </div>
        </Section>
      </CouponForm>
    </Page>
  );
}

function prefixProblem(prefix: string): string | undefined {
  if (prefix.startsWith('-')) return text.formula;
  return /^[a-z\d-]*$/i.test(prefix) ? undefined : text.prefixProblem;
}

/** Returns a number without the blanks and separators that people type. */
const digitsOf = (text: string) => text.replace(/[\s,.'’]/g, '');

/** Returns a check of whole numbers. */
function within(least: number, most: number, problem: string) {
  return (typed: string) => {
    const digits = digitsOf(typed);
    return /^\d{1,5}$/.test(digits) && Number(digits) >= least && Number(digits) <= most ? undefined : problem;
  };
}
