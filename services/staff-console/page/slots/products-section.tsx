import { type ReactNode, useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { SlotService } from '../../../../shared/gen/slot/v1/slot_service_pb.ts';
import { LastChange } from '../audit/history.tsx';
import { Conflict } from '../forms/conflict.tsx';
import { DifferenceView, difference } from '../forms/difference.tsx';
import { FormEnd } from '../forms/form-end.tsx';
import type { Option } from '../forms/pick-many.tsx';
import { ProductPicker } from '../lookup/product-picker.tsx';
import { useGuardedEdit } from '../rpc/guarded-edit.ts';
import { useWrite } from '../rpc/write.ts';
import { Button } from '../ui/button.tsx';
import { Empty, Section } from '../ui/page.tsx';
import type { SlotSectionProps } from './record/section.ts';
import { productsOf } from './record/slot-draft.ts';

// More images than this would make the page slow.
const shownMost = 100;

/** Shows the products that can be delivered in a slot. */
export function ProductsSection({ slot, edit, read }: SlotSectionProps): ReactNode {
  const products = productsOf(slot);
  return (
    <Section
      isEditing={edit.isOpen}
      title={`Products (${products.length})`}
      actions={
        !edit.isOpen && (
          <Button onPress={edit.open} isDisabled={edit.isBlocked}>
            Change products
          </Button>
        )
      }
    >
      {edit.isOpen && <ProductsForm slot={slot} edit={edit} read={read} />}
      {!edit.isOpen && products.length === 0 && <Empty>This slot has no products yet.</Empty>}
      {!edit.isOpen && products.length > 0 && (
        <ul className="products">
          {products.slice(0, shownMost).map(({ id, name }) => (
            <li key={id}>
              {name} <span className="detail">№ {id}</span>
            </li>
          ))}
          {products.length > shownMost && <li>and {products.length - shownMost} more</li>}
        </ul>
      )}
    </Section>
  );
}

function ProductsForm({ slot, edit, read }: SlotSectionProps): ReactNode {
  const [chosen, setChosen] = useState<readonly Option[]>(() => productsOf(slot));
  const write = useWrite(SlotService.method.updateSlotProducts, ({ added, removed }) => ({
    text: `Products of slot ${slot.id}: ${added} added, ${removed} removed`,
  }));
  const { base, save, theirs, rebase } = useGuardedEdit(write, slot, read);
  const had = productsOf(base);
  const change = difference(idsOf(had), idsOf(chosen));
  const names = new Map([...had, ...chosen].map(({ id, name }) => [id, name]));
  const send = async () => {
    const { answer } = await save(({ id, etag }) => ({ slotId: id, productIds: idsOf(chosen), etag }));
    if (answer !== undefined) edit.close();
  };
  return (
    <Form
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <ProductPicker chosen={chosen} onChange={setChosen} problem={write.failure?.fields.productIds} />
      <DifferenceView {...change} nameOf={(id) => names.get(id) ?? `Product ${id}`} />
      <FormEnd write={write} isDirty={change.added.length + change.removed.length > 0} onCancel={edit.close} />
      {theirs !== undefined && (
        <Conflict
          record={`slot ${slot.id}`}
          by={<LastChange type="slot" id={slot.id} />}
          rows={[{ name: 'Products', mine: inWords(chosen), theirs: inWords(productsOf(theirs)) }]}
          isPending={write.isPending}
          onKeepMine={() => void send()}
          onTakeTheirs={() => {
            setChosen(productsOf(theirs));
            rebase();
          }}
          onClose={rebase}
        />
      )}
    </Form>
  );
}

const idsOf = (products: readonly Option[]) => products.map(({ id }) => id);
const inWords = (products: readonly Option[]) => products.map(({ name }) => name).join(', ');
