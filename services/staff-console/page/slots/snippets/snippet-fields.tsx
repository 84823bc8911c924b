import { TextField } from '../../forms/text-field.tsx';
import { TimeField } from '../../forms/time-field.tsx';
import { ProductPicker } from '../../lookup/pickers.tsx';
import { words } from '../../words.ts';
import type { SnippetDraft } from './snippet-draft.ts';

const text = words.slot.snippets;

interface SnippetFieldsProps {
  readonly draft: SnippetDraft;
  /** Its index among the snippets of the request. */
  readonly index?: number;
  onChange(draft: SnippetDraft): void;
  /** The problems that the service reported, by the names of the fields. */
  readonly problems: Readonly<Record<string, string>>;
}

/** The form fields of a vendor snippet. */
export function SnippetFields({ draft, index = 0, onChange, problems }: SnippetFieldsProps) {
  // The errors of rules across all snippets name the snippet that breaks the rule.
  const ofRule = (name: string) => (problems[name]?.includes(`"${draft.name}"`) ? problems[name] : undefined);
  const problem = (name: string) => problems[`vendorSnippets[${index}].${name}`] ?? ofRule(name);
  return (
    <>
      <div className="row">
        <TextField
          label={text.name}
          problem={problem('name')}
          isRequired
          autoFocus={draft.name === ''}
          maxLength={128}
          hint={text.nameHint}
          value={draft.name}
          onChange={(name) => onChange({ ...draft, name })}
        />
        <TimeField
          label={text.validUntil}
          problem={problem('validTill')}
          hint={text.emptyNoEnd}
          value={draft.validTill}
          onChange={(validTill) => onChange({ ...draft, validTill })}
        />
      </div>
      <ProductPicker
        label={text.products}
        chosen={draft.products}
        onChange={(products) => onChange({ ...draft, products })}
        problem={problem('productIds')}
      />
    </>
  );
}
