import { useMemo } from 'react';
import { encode } from 'uqr';
import { type SlotDetail, SlotService, type VendorSnippet } from '#gen/slot/v1/slot_service_pb';
import { formatDate, formatTime, useNow } from '../../business/time.tsx';
import { describeSkipped, fromTimeInput, readTimeInput } from '../../business/time-input.ts';
import { difference } from '../../forms/difference.tsx';
import { EditForm } from '../../forms/edit-form.tsx';
import type { Option } from '../../forms/pick-many.tsx';
import { TextField } from '../../forms/text-field.tsx';
import { TimeField } from '../../forms/time-field.tsx';
import { useProductNames } from '../../lookup/names.ts';
import { ProductPicker } from '../../lookup/pickers.tsx';
import { useWrite } from '../../rpc/write.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Empty } from '../../ui/page.tsx';
import { isolate } from '../../ui/text.ts';
import { counted, words } from '../../words.ts';
import { draftOf, inputLater, productsOf, updateOf } from '../record/draft.ts';
import { EditSection, type SectionProps, useSectionEdit } from '../record/edit-section.tsx';

const text = words.slot.snippets;

/** A vendor snippet in a form. */
export interface SnippetDraft {
  readonly name: string;
  readonly products: readonly Option[];
  /** The text of a time field; empty for no end. */
  readonly validTill: string;
}

/** A new vendor snippet. */
export const emptySnippet: SnippetDraft = { name: '', products: [], validTill: '' };

/** Returns the draft of a copy for a slot some days later. Its name ends with the day of the new delivery. */
export function copySnippet(snippet: VendorSnippet, deliveryTime: string, days: number): SnippetDraft {
  return {
    name: `${snippet.snippetCode.replace(/-\d{4}-\d\d-\d\d$/, '')}-${deliveryTime.slice(0, 10)}`,
    // Their names are read where they are shown.
    products: snippet.productIds.map((id) => ({ id, name: '' })),
    validTill: inputLater(snippet.validTill, days),
  };
}

/** Converts a draft for the request. */
export function snippetInput({ name, products, validTill }: SnippetDraft) {
  return { name, productIds: products.map(({ id }) => id), validTill: fromTimeInput(validTill) };
}

type Slot = Record<'products' | 'groups', readonly { readonly id: number }[]>;

/** Returns what looks like a mistake in a new snippet of a slot, at a time in Unix ms. The products of groups are not known. */
export function snippetConcerns({ name, validTill, products }: SnippetDraft, slot: Slot, now: number): string[] {
  const { added } = difference(idsOf(slot.products), slot.groups.length > 0 ? [] : idsOf(products));
  const end = readTimeInput(validTill);
  const isPast = end !== undefined && end.getTime() < now;
  return [
    ...(isPast ? [text.ended(name, formatDate(end))] : []),
    ...(added.length > 0 ? [text.notInSlot(counted(added.length, 'products'))] : []),
    ...describeSkipped(text.end, validTill),
  ];
}

const idsOf = (options: Slot['products']) => options.map(({ id }) => id);

interface SnippetFieldsProps {
  readonly draft: SnippetDraft;
  /** Among the snippets of the request. */
  readonly index?: number;
  onChange(draft: SnippetDraft): void;
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
        <TimeField {...fieldOf('validTill')} label={text.validUntil} hint={words.coupon.form.noEnd} usual="23:59" />
      </div>
      <ProductPicker
        label={text.products}
        chosen={draft.products}
        onChange={(products) => onChange({ ...draft, products })}
        problem={problemOf('productIds') && (draft.products.length === 0 ? text.noProducts : problemOf('productIds'))}
      />
    </>
  );
}

/** Shows a slot's vendor snippets, each with the link with which the vendor opens it. */
export function SnippetsSection(props: SectionProps<SlotDetail>) {
  const { vendorSnippets } = props.record;
  const nameOf = useProductNames([...new Set(vendorSnippets.flatMap(({ productIds }) => productIds))]);
  const list = (
    <ul className="plain">
      {vendorSnippets.map((snippet) => (
        <Snippet key={snippet.snippetCode} snippet={snippet} nameOf={nameOf} />
      ))}
    </ul>
  );
  const form = (
    <>
      <SnippetForm {...props} />
      {list}
    </>
  );
  return (
    <EditSection title={text.title(vendorSnippets.length)} action={text.add} form={form}>
      {vendorSnippets.length === 0 && <Empty>{text.none}</Empty>}
      {list}
    </EditSection>
  );
}

function Snippet({ snippet, nameOf }: { readonly snippet: VendorSnippet; readonly nameOf: (id: number) => string }) {
  const { snippetCode, productIds, validTill, accessUrl = '' } = snippet;
  const code = useMemo(() => encode(accessUrl, { border: 2 }), [accessUrl]);
  const dark = code.data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')));
  return (
    <li className="snippet">
      <div>
        <h3>{isolate(snippetCode)}</h3>
        <p>{productIds.map(nameOf).join(', ')}</p>
        <p className="detail">{validTill === undefined ? text.noEnd : `${text.validUntil} ${formatTime(validTill)}`}</p>
        <p>
          <a href={accessUrl} target="_blank" rel="noreferrer">
            {accessUrl}
          </a>
        </p>
        <CopyButton what={text.link} text={accessUrl} name={text.of(snippetCode)} />
      </div>
      {/* Dark on light even on a dark page, because many readers need that. */}
      <svg
        width="144"
        viewBox={`0 0 ${code.size} ${code.size}`}
        role="img"
        aria-label={text.qrCode(snippetCode)}
        shapeRendering="crispEdges"
      >
        <rect width={code.size} height={code.size} fill="#fff" />
        <path d={dark.join('')} fill="#000" />
      </svg>
    </li>
  );
}

/** New snippets never contradict what somebody else has changed meanwhile. */
function SnippetForm(props: SectionProps<SlotDetail>) {
  const now = useNow(20_000);
  const write = useWrite(SlotService.method.updateSlot, ({ createdSnippets }) => ({
    text: text.created(createdSnippets.map(({ snippetCode }) => snippetCode).join(', ')),
  }));
  const { draft, setDraft, form } = useSectionEdit(
    props,
    write,
    () => emptySnippet,
    (snippet, replaced) => ({ ...updateOf(draftOf(replaced), replaced), vendorSnippets: [snippetInput(snippet)] }),
  );
  const slot = { ...draftOf(props.record), products: productsOf(props.record) };
  return (
    <EditForm {...form} concerns={snippetConcerns(draft, slot, now)} action={text.create}>
      <SnippetFields draft={draft} onChange={setDraft} problems={write.failure?.fields} />
    </EditForm>
  );
}
