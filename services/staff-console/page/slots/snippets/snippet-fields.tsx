import type { VendorSnippet } from '#gen/slot/v1/slot_service_pb';
import { formatDate } from '../../business/time.tsx';
import { describeSkipped, fromTimeInput, readTimeInput } from '../../business/time-input.ts';
import type { Option } from '../../forms/pick-many.tsx';
import { TextField } from '../../forms/text-field.tsx';
import { TimeField } from '../../forms/time-field.tsx';
import { ProductPicker } from '../../lookup/pickers.tsx';
import { words } from '../../words.ts';
import { inputLater } from '../record/draft.ts';

const text = words.slot.snippets;

/** A vendor snippet in a form. */
export interface SnippetDraft {
  readonly name: string;
  readonly products: readonly Option[];
  /** The text of a time field; empty for no end. */
  readonly validTill: string;
}

/** The draft of a new vendor snippet. */
export const emptySnippet: SnippetDraft = { name: '', products: [], validTill: '' };

/**
 * Returns the draft of a copy of a snippet for a slot some days later. Its name ends with the day of the new delivery,
 * in the place of another day. The names of its products are read where they are shown.
 */
export function copySnippet(
  { snippetCode, productIds, validTill }: VendorSnippet,
  deliveryTime: string,
  days: number,
): SnippetDraft {
  return {
    name: `${snippetCode.replace(/-\d{4}-\d\d-\d\d$/, '')}-${deliveryTime.slice(0, 10)}`,
    products: productIds.map((id) => ({ id, name: '' })),
    validTill: inputLater(validTill, days),
  };
}

/** Converts a draft for the request. */
export function snippetInput({ name, products, validTill }: SnippetDraft) {
  return { name, productIds: products.map(({ id }) => id), validTill: fromTimeInput(validTill) };
}

/** Returns what looks like a mistake in a new snippet, at a time in Unix ms. */
export function snippetConcerns({ name, validTill }: SnippetDraft, now: number): string[] {
  const end = readTimeInput(validTill);
  const isPast = end !== undefined && end.getTime() < now;
  return [...(isPast ? [text.ended(name, formatDate(end))] : []), ...describeSkipped(text.end, validTill)];
}

interface SnippetFieldsProps {
  readonly draft: SnippetDraft;
  /** Its index among the snippets of the request. */
  readonly index?: number;
  onChange(draft: SnippetDraft): void;
  /** The problems that the service reported, by the names of the fields. */
  readonly problems: Readonly<Record<string, string>> | undefined;
}

/** The form fields of a vendor snippet. */
export function SnippetFields({ draft, index = 0, onChange, problems = {} }: SnippetFieldsProps) {
  // The errors of rules across all snippets name the snippet that breaks the rule.
  const ofRule = (name: string) => (problems[name]?.includes(`"${draft.name}"`) ? problems[name] : undefined);
  const problemOf = (name: string) => problems[`vendorSnippets[${index}].${name}`] ?? ofRule(name);
  const fieldOf = (name: 'name' | 'validTill') => ({
    problem: problemOf(name),
    value: draft[name],
    onChange: (value: string) => onChange({ ...draft, [name]: value }),
  });
  return (
    <>
      <div className="row">
        <TextField
          {...fieldOf('name')}
          label={text.name}
          isRequired
          autoFocus={draft.name === ''}
          maxLength={128}
          hint={text.nameHint}
        />
        <TimeField {...fieldOf('validTill')} label={text.validUntil} hint={text.emptyNoEnd} />
      </div>
      <ProductPicker
        label={text.products}
        chosen={draft.products}
        onChange={(products) => onChange({ ...draft, products })}
        problem={problemOf('productIds')}
      />
    </>
  );
}
