import { useState } from 'react';
import { Navigate, useNavigate } from 'react-router';
import { CouponBatchService } from '#gen/coupon/v1/coupon_batch_service_pb';
import { useNow } from '../../business/time.tsx';
import { EditForm } from '../../forms/edit-form.tsx';
import { TextField } from '../../forms/text-field.tsx';
import { isSame } from '../../rpc/merge.ts';
import { useWrite } from '../../rpc/write.ts';
import { Page, Section } from '../../ui/page.tsx';
import { counted, words } from '../../words.ts';
import { AudienceFields } from '../form/audience-fields.tsx';
import { batchConcernsOf } from '../form/concerns.ts';
import { TermsFields, termsPlaces } from '../form/terms-fields.tsx';
import { blankDraft, type CouponDraft, changesOf, newDraft, usersOf } from '../record/draft.ts';
import { describeDraft } from '../record/summary.ts';

const text = words.coupons.batches;

const places = {
  ...termsPlaces,
  ...{ applicableUsers: 'applicableUsers', name: 'name', count: 'count', prefix: 'prefix', codeLength: 'codeLength' },
};

/** A batch in a form. Its coupons have no code until they are made. */
interface BatchDraft extends CouponDraft {
  readonly name: string;
  readonly count: string;
  readonly prefix: string;
  readonly codeLength: string;
}

/** All codes together have at most as many links to users and products (design 13). */
const mostLinks = 100_000;

/** The codes are for one use each unless staff say otherwise: whoever learns one could use it. */
const blankBatch: BatchDraft = { ...newDraft, maxUses: '1', name: '', count: '', prefix: '', codeLength: '10' };

/** Creates many coupons with random codes. */
export function Component() {
  const navigate = useNavigate();
  const now = useNow(20_000);
  const [draft, setDraft] = useState(blankBatch);
  const [createdId, setCreatedId] = useState<number>();
  const create = useWrite(CouponBatchService.method.createBatch, ({ batch }) => ({
    text: text.made(counted(batch?.count ?? 0, text.codes)),
  }));
  const change = (part: Partial<BatchDraft>) => setDraft({ ...draft, ...part });
  const field = (name: 'name' | 'count' | 'prefix' | 'codeLength') => ({
    name,
    autoComplete: 'off',
    value: draft[name],
    onChange: (text: string) => change({ [name]: text }),
  });
  const count = Number(digitsOf(draft.count));
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
      <EditForm
        action={text.create}
        pending={text.creating(counted(count, text.codes))}
        places={places}
        write={create}
        isDirty={!isSame(blankBatch, draft)}
        summary={`${text.summary(counted(count, text.codes))} ${describeDraft(draft)}`}
        concerns={batchConcernsOf(draft, now)}
        onSend={() => void send()}
        onCancel={() => void navigate('/coupons/batches')}
      >
        <Section title={text.codesTitle}>
          <div className="row">
            <TextField label={text.name} hint={text.nameHint} maxLength={128} {...field('name')} />
            <TextField
              label={text.count}
              inputMode="numeric"
              {...field('count')}
              validate={(typed) => (isWithin(typed, 1, most) ? undefined : allowed)}
            />
            <TextField
              label={text.prefix}
              hint={text.prefixHint}
              isUpperCase
              maxLength={16}
              {...field('prefix')}
              validate={prefixProblem}
            />
            <TextField
              label={text.length}
              hint={text.lengthHint}
              inputMode="numeric"
              {...field('codeLength')}
              validate={(typed) => (isWithin(typed, 8, 32) ? undefined : text.lengthProblem)}
            />
          </div>
        </Section>
        <TermsFields ofEachCode draft={draft} onChange={change} problem={create.failure?.fields.applicableProducts}>
          <AudienceFields draft={draft} onChange={change} problem={create.failure?.fields.applicableUsers} />
        </TermsFields>
      </EditForm>
    </Page>
  );
}

function prefixProblem(prefix: string): string | undefined {
  if (prefix.startsWith('-')) return text.formula;
  return /^[a-z\d-]*$/i.test(prefix) ? undefined : text.prefixProblem;
}

/** Returns a number without the blanks and separators that people type. */
const digitsOf = (text: string) => text.replace(/[\s,.'’]/g, '');

function isWithin(text: string, least: number, most: number): boolean {
  const digits = digitsOf(text);
  return /^\d{1,5}$/.test(digits) && Number(digits) >= least && Number(digits) <= most;
}
