import { Choice } from '../../forms/choice.tsx';
import { UserPicker } from '../../lookup/pickers.tsx';
import { Section } from '../../ui/page.tsx';
import { words } from '../../words.ts';
import type { CouponDraft } from '../record/draft.ts';

const text = words.coupon.form;

interface AudienceFieldsProps {
  readonly draft: CouponDraft;
  onChange(part: Partial<CouponDraft>): void;
  /** The problem with the customers that the service reported. */
  readonly problem: string | undefined;
}

/** The section of a form that says which customers may use a coupon. */
export function AudienceFields({ draft, onChange, problem }: AudienceFieldsProps) {
  return (
    <Section title={text.who}>
      <Choice
        label={words.coupon.terms.customers}
        name="audience"
        value={draft.audience}
        options={text.audiences}
        onChange={(audience) => onChange({ audience })}
      />
      {draft.audience === 'chosen' && (
        <UserPicker
          label={text.chosen}
          chosen={draft.users}
          onChange={(users) => onChange({ users })}
          problem={problem}
        />
      )}
    </Section>
  );
}
