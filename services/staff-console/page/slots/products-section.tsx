import type { ReactNode } from 'react';
import { type SlotDetail, SlotService } from '../../../../shared/gen/slot/v1/slot_service_pb.ts';
import { DifferenceView, difference } from '../forms/difference.tsx';
import { EditForm } from '../forms/edit-form.tsx';
import type { Option } from '../forms/pick-many.tsx';
import { ProductPicker } from '../lookup/pickers.tsx';
import { useGuardedEdit } from '../rpc/guarded-edit.ts';
import { useWrite } from '../rpc/write.ts';
import { Empty } from '../ui/page.tsx';
import { EditSection, type SlotSectionProps } from './record/edit-section.tsx';
import { emptyConcerns, productsOf } from './record/slot-draft.ts';

// More images than this would make the page slow.
const shownMost = 100;

/** Shows the products that can be delivered in a slot. */
export function ProductsSection({ slot, edit, read }: SlotSectionProps): ReactNode {
  const products = productsOf(slot);
  return (
    <EditSection title={`Products (${products.length})`} edit={edit} action="Change products">
      {edit.isOpen && <ProductsForm slot={slot} edit={edit} read={read} />}
      {!edit.isOpen && products.length === 0 && <Empty>This slot has no products yet.</Empty>}
      {!edit.isOpen && products.length > 0 && (
        <ul className="products">
          {products.slice(0, shownMost).map(({ id, name }) => (
            <li key={id}>
              {name} <span className="detail">no. {id}</span>
            </li>
          ))}
          {products.length > shownMost && <li>and {products.length - shownMost} more</li>}
        </ul>
      )}
    </EditSection>
  );
}

interface ProductsDraft {
  readonly products: readonly Option[];
}

/** Lists of products never contradict one another: additions and removals are merged. */
function ProductsForm({ slot, edit, read }: SlotSectionProps): ReactNode {
  const write = useWrite(SlotService.method.updateSlotProducts, ({ added, removed }) => ({
    text: `Products of slot ${slot.id}: ${added} added, ${removed} removed`,
  }));
  const { draft, setDraft, start, save } = useGuardedEdit({
    write,
    record: slot,
    read,
    draftOf: (record: SlotDetail): ProductsDraft => ({ products: productsOf(record) }),
    request: ({ products }, { id, etag }) => ({ slotId: id, productIds: idsOf(products), etag }),
    onSaved: edit.close,
  });
  const change = difference(idsOf(start.products), idsOf(draft.products));
  const names = new Map([...start.products, ...draft.products].map(({ id, name }) => [id, name]));
  return (
    <EditForm
      write={write}
      isDirty={change.added.length + change.removed.length > 0}
      concerns={slot.isActive && change.removed.length > 0 ? emptyConcerns(draft.products, slot.groupIds) : []}
      onSend={save}
      onCancel={edit.close}
    >
      <ProductPicker
        chosen={draft.products}
        onChange={(products) => setDraft({ products })}
        problem={write.failure?.fields.productIds}
      />
      <DifferenceView {...change} nameOf={(id) => names.get(id) ?? `Product ${id}`} />
    </EditForm>
  );
}

const idsOf = (products: readonly Option[]) => products.map(({ id }) => id);
