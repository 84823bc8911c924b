import type { ReactNode } from 'react';
import { ProductPicker } from '../lookup/product-picker.tsx';
import { TextField } from '../ui/text-field.tsx';
import type { SnippetDraft } from './snippet-draft.ts';

interface SnippetFieldsProps {
  readonly draft: SnippetDraft;
  onChange(draft: SnippetDraft): void;
  /** The problems that the service has, by the names of the fields. */
  readonly problems: Readonly<Record<string, string>>;
}

/** The fields of a vendor snippet. */
export function SnippetFields({ draft, onChange, problems }: SnippetFieldsProps): ReactNode {
  return (
    <>
      <div className="row">
        <TextField
          label="Snippet name"
          name="name"
          isRequired
          maxLength={128}
          hint="Unique among all snippets: it is in the vendor’s link."
          value={draft.name}
          onChange={(name) => onChange({ ...draft, name })}
        />
        <TextField
          label="Valid till"
          name="validTill"
          type="datetime-local"
          hint="Empty: for ever."
          value={draft.validTill}
          onChange={(validTill) => onChange({ ...draft, validTill })}
        />
      </div>
      <ProductPicker
        label="Products of the snippet"
        chosen={draft.products}
        onChange={(products) => onChange({ ...draft, products })}
        problem={problems.productIds}
      />
    </>
  );
}
