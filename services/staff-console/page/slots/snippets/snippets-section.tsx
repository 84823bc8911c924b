import { type ReactNode, useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { type SlotDetail, SlotService, type VendorSnippet } from '../../../../../shared/gen/slot/v1/slot_service_pb.ts';
import { LastChange } from '../../audit/history.tsx';
import { Conflict } from '../../forms/conflict.tsx';
import { FormEnd } from '../../forms/form-end.tsx';
import { useProductNames } from '../../lookup/catalog.ts';
import { useGuardedEdit } from '../../rpc/guarded-edit.ts';
import { useWrite } from '../../rpc/write.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Empty, Section } from '../../ui/page.tsx';
import { QrCode } from '../../ui/qr-code.tsx';
import { Time } from '../../ui/time.tsx';
import type { SlotSectionProps } from '../record/section.ts';
import { unchanged } from '../record/slot-draft.ts';
import { emptySnippet, snippetInput } from './snippet-draft.ts';
import { SnippetFields } from './snippet-fields.tsx';

/** Shows a slot's vendor snippets, each with the link with which the vendor opens it. */
export function SnippetsSection({ slot, edit, read }: SlotSectionProps): ReactNode {
  const { vendorSnippets } = slot;
  const nameOf = useProductNames([...new Set(vendorSnippets.flatMap(({ productIds }) => productIds))]);
  return (
    <Section
      isEditing={edit.isOpen}
      title={`Vendor snippets (${vendorSnippets.length})`}
      actions={
        !edit.isOpen && (
          <Button onPress={edit.open} isDisabled={edit.isBlocked}>
            Add a snippet
          </Button>
        )
      }
    >
      {edit.isOpen && <SnippetForm slot={slot} edit={edit} read={read} />}
      {vendorSnippets.length === 0 && !edit.isOpen && <Empty>No vendor has a link to this slot yet.</Empty>}
      <ul className="snippets">
        {vendorSnippets.map((snippet) => (
          <Snippet key={snippet.snippetCode} snippet={snippet} nameOf={nameOf} />
        ))}
      </ul>
    </Section>
  );
}

interface SnippetProps {
  readonly snippet: VendorSnippet;
  readonly nameOf: (productId: number) => string;
}

function Snippet({ snippet, nameOf }: SnippetProps): ReactNode {
  const { snippetCode, productIds, validTill, accessUrl = '' } = snippet;
  return (
    <li className="snippet">
      <div>
        <h3>{snippetCode}</h3>
        <p>{productIds.map(nameOf).join(', ')}</p>
        <p className="detail">
          {validTill === undefined ? (
            'Valid for ever'
          ) : (
            <>
              Valid till <Time at={validTill} />
            </>
          )}
        </p>
        <p>
          <a href={accessUrl} target="_blank" rel="noreferrer">
            {accessUrl}
          </a>
        </p>
        <CopyButton text={accessUrl} name={`the link of ${snippetCode}`} />
      </div>
      <QrCode text={accessUrl} label={`QR code of the link of ${snippetCode}`} />
    </li>
  );
}

function SnippetForm({ slot, edit, read }: SlotSectionProps): ReactNode {
  const [draft, setDraft] = useState(emptySnippet);
  const write = useWrite(SlotService.method.updateSlot, ({ createdSnippets }) => ({
    text: `Snippet ${createdSnippets.map(({ snippetCode }) => snippetCode).join(', ')} created`,
  }));
  const { save, theirs, rebase } = useGuardedEdit(write, slot, read);
  const send = async () => {
    const { answer } = await save((replaced: SlotDetail) => ({
      ...unchanged(replaced),
      vendorSnippets: [snippetInput(draft)],
    }));
    if (answer !== undefined) edit.close();
  };
  return (
    <Form
      validationErrors={write.failure?.fields ?? {}}
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <SnippetFields draft={draft} onChange={setDraft} problems={write.failure?.fields ?? {}} />
      <FormEnd write={write} isDirty={draft !== emptySnippet} onCancel={edit.close} action="Create snippet" />
      {theirs !== undefined && (
        <Conflict
          record={`slot ${slot.id}`}
          by={<LastChange type="slot" id={slot.id} />}
          rows={[{ name: 'Snippets', mine: `${names(slot)}, ${draft.name}`, theirs: names(theirs) }]}
          isPending={write.isPending}
          onKeepMine={() => void send()}
          onTakeTheirs={rebase}
          onClose={rebase}
        />
      )}
    </Form>
  );
}

const names = ({ vendorSnippets }: SlotDetail) => vendorSnippets.map(({ snippetCode }) => snippetCode).join(', ');
