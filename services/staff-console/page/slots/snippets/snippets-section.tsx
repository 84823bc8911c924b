import { useMemo } from 'react';
import { encode } from 'uqr';
import { SlotService, type VendorSnippet } from '#gen/slot/v1/slot_service_pb';
import { formatTime, useNow } from '../../business/time.tsx';
import { EditForm } from '../../forms/edit-form.tsx';
import { useProductNames } from '../../lookup/names.ts';
import { useGuardedEdit } from '../../rpc/guarded-edit.ts';
import { useWrite } from '../../rpc/write.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Empty } from '../../ui/page.tsx';
import { isolate } from '../../ui/text.ts';
import { words } from '../../words.ts';
import { updateOf } from '../record/draft.ts';
import { EditSection, type SlotSectionProps } from '../record/edit-section.tsx';
import { emptySnippet, SnippetFields, snippetConcerns, snippetInput } from './snippet-fields.tsx';

const text = words.slot.snippets;

/** Shows a slot's vendor snippets, each with the link with which the vendor opens it. */
export function SnippetsSection(props: SlotSectionProps) {
  const { vendorSnippets } = props.slot;
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

interface SnippetProps {
  readonly snippet: VendorSnippet;
  readonly nameOf: (productId: number) => string;
}

function Snippet({ snippet, nameOf }: SnippetProps) {
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
        className="qr-code"
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
function SnippetForm({ slot, read, onClose }: SlotSectionProps) {
  const now = useNow(20_000);
  const write = useWrite(SlotService.method.updateSlot, ({ createdSnippets }) => ({
    text: text.created(createdSnippets.map(({ snippetCode }) => snippetCode).join(', ')),
  }));
  const { draft, setDraft, isDirty, save } = useGuardedEdit({
    write,
    record: slot,
    read,
    draftOf: () => emptySnippet,
    request: (snippet, replaced) => ({ ...updateOf(replaced), vendorSnippets: [snippetInput(snippet)] }),
    onSaved: onClose,
  });
  return (
    <EditForm
      write={write}
      isDirty={isDirty}
      concerns={snippetConcerns(draft, now)}
      onSend={save}
      onCancel={onClose}
      action={text.create}
    >
      <SnippetFields draft={draft} onChange={setDraft} problems={write.failure?.fields} />
    </EditForm>
  );
}
