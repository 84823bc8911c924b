import { type ReactNode, useState } from 'react';
import { Navigate, useNavigate } from 'react-router';
import { CouponBatchService } from '../../../../../shared/gen/coupon/v1/coupon_batch_service_pb.ts';
import { useNow } from '../../business/time.tsx';
import { EditForm } from '../../forms/edit-form.tsx';
import { TextField } from '../../forms/text-field.tsx';
import { isSame } from '../../rpc/merge.ts';
import { useWrite } from '../../rpc/write.ts';
import { Page, Section } from '../../ui/page.tsx';
import { AudienceFields } from '../record/audience-fields.tsx';
import { batchConcernsOf } from '../record/concerns.ts';
import { blankDraft, type CouponDraft, changesOf, usersOf } from '../record/draft.ts';
import { TermsFields, termsPlaces } from '../record/terms-fields.tsx';
import { codesInWords } from '../record/words.ts';

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

const blankBatch: BatchDraft = { ...blankDraft, name: '', count: '', prefix: '', codeLength: '10' };

/** Creates many coupons with random codes. */
export function Component(): ReactNode {
  const navigate = useNavigate();
  const now = useNow(20_000);
  const [draft, setDraft] = useState(blankBatch);
  const [createdId, setCreatedId] = useState<number>();
  const create = useWrite(CouponBatchService.method.createBatch, ({ batch }) => ({
    text: `${codesInWords(batch?.count ?? 0)} made`,
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
  const ofLinks = most === 10_000 ? '' : `: each code has ${links} users and products`;
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
    <Page title="New batch of codes">
      <EditForm
        action="Make the codes"
        pending={`Making ${codesInWords(count)}…`}
        places={places}
        write={create}
        isDirty={!isSame(blankBatch, draft)}
        concerns={batchConcernsOf(draft, now)}
        onSend={() => void send()}
        onCancel={() => void navigate('/coupons/batches')}
      >
        <Section title="Codes and users">
          <div className="row">
            <TextField label="Name" hint="For staff, such as “Spring letters”." maxLength={128} {...field('name')} />
            <TextField
              label="How many codes"
              inputMode="numeric"
              {...field('count')}
              validate={(text) =>
                isWithin(text, 1, most) ? undefined : `Enter 1 to ${most.toLocaleString('en')}${ofLinks}.`
              }
            />
            <TextField
              label="Codes begin with"
              hint="Empty: nothing. The rest of a code is random."
              isUpperCase
              maxLength={16}
              {...field('prefix')}
              validate={prefixProblem}
            />
            <TextField
              label="Random letters and digits"
              hint="8 to 32. The more, the harder a code is to guess."
              inputMode="numeric"
              {...field('codeLength')}
              validate={(text) => (isWithin(text, 8, 32) ? undefined : 'Enter 8 to 32.')}
            />
          </div>
          <AudienceFields draft={draft} onChange={change} problem={create.failure?.fields.applicableUsers} />
        </Section>
        <Section title="Terms">
          <TermsFields ofEachCode draft={draft} onChange={change} problem={create.failure?.fields.applicableProducts} />
        </Section>
      </EditForm>
    </Page>
  );
}

function prefixProblem(prefix: string): string | undefined {
  if (prefix.startsWith('-')) return 'Begin with a letter or a digit: a spreadsheet takes “-” for a formula.';
  return /^[a-z\d-]*$/i.test(prefix) ? undefined : 'Enter letters from A to Z, digits and hyphens.';
}

/** Returns a number without the blanks and separators that people type. */
const digitsOf = (text: string) => text.replace(/[\s,.'’]/g, '');

function isWithin(text: string, least: number, most: number): boolean {
  const digits = digitsOf(text);
  return /^\d{1,5}$/.test(digits) && Number(digits) >= least && Number(digits) <= most;
}
