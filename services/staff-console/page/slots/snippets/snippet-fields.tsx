import type { ReactNode } from 'react';
import { TextField } from '../../forms/text-field.tsx';
import { TimeField } from '../../forms/time-field.tsx';
import { ProductPicker } from '../../lookup/pickers.tsx';
import type { SnippetDraft } from './snippet-draft.ts';

interface SnippetFieldsProps {
  readonly draft: SnippetDraft;
  /** Its index among the snippets of the request. */
  readonly index?: number;
  onChange(draft: SnippetDraft): void;
  /** The problems that the service reported, by the names of the fields. */
  readonly problems: Readonly<Record<string, string>>;
}

/** The form fields of a vendor snippet. */
export function SnippetFields({ draft, index = 0, onChange, problems }: SnippetFieldsProps): ReactNode {
  // The errors of rules across all snippets name the snippet that breaks the rule.
  const ofRule = (name: string) => (problems[name]?.includes(`"${draft.name}"`) ? problems[name] : undefined);
  const problem = (name: string) => problems[`vendorSnippets[${index}].${name}`] ?? ofRule(name);
  return (
    <>
      <div className="row">
        <TextField
          label="Snippet name"
          problem={problem('name')}
          isRequired
          autoFocus={draft.name === ''}
          maxLength={128}
          hint="It is in the vendor’s link, and can’t be changed later. Unique among all snippets, those of deactivated slots included."
          value={draft.name}
          onChange={(name) => onChange({ ...draft, name })}
        />
        <TimeField
          label="Valid until"
          problem={problem('validTill')}
          hint="Empty: no end."
          value={draft.validTill}
          onChange={(validTill) => onChange({ ...draft, validTill })}
        />
      </div>
      <ProductPicker
        label="Products of the snippet"
        chosen={draft.products}
        onChange={(products) => onChange({ ...draft, products })}
        problem={problem('productIds')}
      />
    </>
  );
}
