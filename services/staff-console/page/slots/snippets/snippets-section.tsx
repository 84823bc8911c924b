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
import { EditSection, type SlotSectionProps } from '../record/edit-section.tsx';
import { unchanged } from '../record/slot-draft.ts';
import { QrCode } from './qr-code.tsx';
import { emptySnippet, snippetConcerns, snippetInput } from './snippet-draft.ts';
import { SnippetFields } from './snippet-fields.tsx';

const text = words.slot.snippets;

/** Shows a slot's vendor snippets, each with the link with which the vendor opens it. */
export function SnippetsSection({ slot, edit, read }: SlotSectionProps) {
  const { vendorSnippets } = slot;
  const nameOf = useProductNames([...new Set(vendorSnippets.flatMap(({ productIds }) => productIds))]);
  return (
    <EditSection title={text.title(vendorSnippets.length)} edit={edit} action={text.add}>
      {edit.isOpen && <SnippetForm slot={slot} edit={edit} read={read} />}
      {vendorSnippets.length === 0 && !edit.isOpen && <Empty>{text.none}</Empty>}
      <ul className="plain">
        {vendorSnippets.map((snippet) => (
          <Snippet key={snippet.snippetCode} snippet={snippet} nameOf={nameOf} />
        ))}
      </ul>
    </EditSection>
  );
}

interface SnippetProps {
  readonly snippet: VendorSnippet;
  readonly nameOf: (productId: number) => string;
}

function Snippet({ snippet, nameOf }: SnippetProps) {
  const { snippetCode, productIds, validTill, accessUrl = '' } = snippet;
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
      <QrCode text={accessUrl} label={text.qrCode(snippetCode)} />
    </li>
  );
}

/** New snippets never contradict what somebody else has changed meanwhile. */
function SnippetForm({ slot, edit, read }: SlotSectionProps) {
  const now = useNow(20_000);
  const write = useWrite(SlotService.method.updateSlot, ({ createdSnippets }) => ({
    text: text.created(createdSnippets.map(({ snippetCode }) => snippetCode).join(', ')),
  }));
  const { draft, setDraft, isDirty, save } = useGuardedEdit({
    write,
    record: slot,
    read,
    draftOf: () => emptySnippet,
    request: (snippet, replaced) => ({ ...unchanged(replaced), vendorSnippets: [snippetInput(snippet)] }),
    onSaved: edit.close,
  });
  return (
    <EditForm
      write={write}
      isDirty={isDirty}
      concerns={snippetConcerns(draft, now)}
      onSend={save}
      onCancel={edit.close}
      action={text.create}
    >
      <SnippetFields draft={draft} onChange={setDraft} problems={write.failure?.fields ?? {}} />
    </EditForm>
  );
}
