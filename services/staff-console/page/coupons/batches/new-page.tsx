import { useState } from 'react';
import { Navigate } from 'react-router';
import { CouponBatchService } from '#gen/coupon/v1/coupon_batch_service_pb';
import { TextField } from '../../forms/text-field.tsx';
import { isSame } from '../../rpc/merge.ts';
import { Page, Section } from '../../ui/page.tsx';
import { counted, words } from '../../words.ts';
import { CouponForm } from '../form/coupon-form.tsx';
import { useMade } from '../issue/issued.tsx';
import { blankDraft, changesOf, newDraft, usersOf } from '../record/draft.ts';
import { describeDraft } from '../record/words.ts';

const text = words.coupons.batches;

/** All codes together have at most as many links to users and products (design 13). */
const mostLinks = 100_000;

/** The codes are for one use each unless staff say otherwise: whoever learns one could use it. */
const blankBatch = { ...newDraft, maxUses: '1', name: '', count: '', prefix: '', codeLength: '10' };

const lengthProblem = within(8, 32, text.lengthProblem);

/** Creates many coupons with random codes. */
export function Component() {
  const [draft, setDraft] = useState(blankBatch);
  const { made, write, make } = useMade(CouponBatchService.method.createBatch, ({ batch }) => ({
    text: text.made(counted(batch?.count ?? 0, text.codes)),
  }));
  const count = Number(digitsOf(draft.count));
  const codes = counted(count, text.codes);
  const links = usersOf(draft).length + draft.products.length;
  const most = Math.min(10_000, Math.floor(mostLinks / Math.max(1, links)));
  const allowed = text.countProblem(most, most === 10_000 ? 0 : links);
  const fields = [
    { name: 'name', label: words.fields.name, hint: text.nameHint, maxLength: 128 },
    { name: 'count', label: text.count, inputMode: 'numeric', validate: within(1, most, allowed) },
    {
      name: 'prefix',
      label: text.prefix,
      hint: text.prefixHint,
      validate: prefixProblem,
      isUpperCase: true,
      maxLength: 16,
    },
    { name: 'codeLength', label: text.length, hint: text.lengthHint, validate: lengthProblem, inputMode: 'numeric' },
  ] as const;
  const send = () =>
    make({
      name: draft.name.trim(),
      coupon: changesOf(blankDraft, draft),
      count,
      prefix: draft.prefix.toUpperCase(),
      codeLength: Number(digitsOf(draft.codeLength)),
    });
  if (made?.batch !== undefined) return <Navigate to={`/coupons/batches/${made.batch.id}`} replace />;
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
        write={write}
        onSend={send}
        back="/coupons/batches"
      >
        <Section title={words.fields.count}>
          <div className="row">
            {fields.map((field) => (
              <TextField
                key={field.name}
                {...field}
                autoComplete="off"
                value={draft[field.name]}
                onChange={(typed) => setDraft({ ...draft, [field.name]: typed })}
              />
            ))}
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
