import type { ReactNode } from 'react';
import { Choice } from '../../forms/choice.tsx';
import { UserPicker } from '../../lookup/pickers.tsx';
import type { CouponDraft } from './draft.ts';

interface AudienceFieldsProps {
  readonly draft: CouponDraft;
  onChange(part: Partial<CouponDraft>): void;
  /** The problem with the users that the service reported. */
  readonly problem: string | undefined;
}

/** The fields that say for whom a coupon is. */
export function AudienceFields({ draft, onChange, problem }: AudienceFieldsProps): ReactNode {
  return (
    <>
      <Choice
        label="For whom"
        value={draft.audience}
        options={{ everyone: 'Everyone', chosen: 'Chosen users', nobody: 'Nobody yet' }}
        onChange={(audience) => onChange({ audience })}
      />
      {draft.audience === 'chosen' && (
        <UserPicker chosen={draft.users} onChange={(users) => onChange({ users })} problem={problem} />
      )}
    </>
  );
}
