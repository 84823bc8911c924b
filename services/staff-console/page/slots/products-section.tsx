import { type SlotDetail, SlotService } from '#gen/slot/v1/slot_service_pb';
import { DifferenceView, difference } from '../forms/difference.tsx';
import { EditForm } from '../forms/edit-form.tsx';
import type { Option } from '../forms/pick-many.tsx';
import { ProductPicker } from '../lookup/pickers.tsx';
import { useGuardedEdit } from '../rpc/guarded-edit.ts';
import { useWrite } from '../rpc/write.ts';
import { Empty } from '../ui/page.tsx';
import { words } from '../words.ts';
import { EditSection, type SlotSectionProps } from './record/edit-section.tsx';
import { emptyConcerns, productsOf } from './record/slot-draft.ts';

const text = words.slot;

// Nobody reads more names than this.
const shownMost = 100;

/** Shows the products that can be delivered in a slot. */
export function ProductsSection({ slot, edit, read }: SlotSectionProps) {
  const products = productsOf(slot);
  return (
    <EditSection title={text.products(products.length)} edit={edit} action={text.edit.short} label={text.edit.products}>
      {edit.isOpen && <ProductsForm slot={slot} edit={edit} read={read} />}
      {!edit.isOpen && products.length === 0 && <Empty>{text.noProducts}</Empty>}
      {!edit.isOpen && products.length > 0 && (
        <ul className="columns">
          {products.slice(0, shownMost).map(({ id, name }) => (
            <li key={id}>{name}</li>
          ))}
          {products.length > shownMost && <li>{text.andMore(products.length - shownMost)}</li>}
        </ul>
      )}
    </EditSection>
  );
}

interface ProductsDraft {
  readonly products: readonly Option[];
}

/** Lists of products never contradict one another: additions and removals are merged. */
function ProductsForm({ slot, edit, read }: SlotSectionProps) {
  const write = useWrite(SlotService.method.updateSlotProducts, ({ added, removed }) => ({
    text: text.productsChanged(slot.id, added, removed),
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
