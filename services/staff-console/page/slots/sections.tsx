import { type SlotDetail, SlotService } from '#gen/slot/v1/slot_service_pb';
import { LastChange } from '../audit/history.tsx';
import { formatDate, Time, useNow } from '../business/time.tsx';
import { readTimeInput } from '../business/time-input.ts';
import { Conflict } from '../forms/conflict.tsx';
import { DifferenceView, difference } from '../forms/difference.tsx';
import { EditForm } from '../forms/edit-form.tsx';
import type { Option } from '../forms/pick-many.tsx';
import { groupNames, useGroups } from '../lookup/names.ts';
import { ProductPicker } from '../lookup/pickers.tsx';
import { isSame } from '../rpc/merge.ts';
import { useWrite } from '../rpc/write.ts';
import { Empty, Facts } from '../ui/page.tsx';
import { words } from '../words.ts';
import type { LiveBookings } from './bookings/live-bookings.ts';
import {
  concernsOf,
  draftOf,
  emptyConcerns,
  plansOf,
  productsOf,
  type SlotDraft,
  slotLabels,
  updateOf,
  useTaken,
} from './record/draft.ts';
import { EditSection, type SectionProps, useSectionEdit } from './record/edit-section.tsx';
import { CapacityBar, slotTime } from './record/slot-state.tsx';
import { CapacityField, TimesFields } from './times-fields.tsx';

const text = words.slot;
// Nobody reads more names than this.
const shownMost = 100;

interface BookedSectionProps extends SectionProps<SlotDetail> {
  readonly live: LiveBookings;
}

/** Shows how much of a slot is booked, and lets staff change its capacity in place. */
export function CapacitySection(props: BookedSectionProps) {
  const { record: slot, live } = props;
  const { capacity, booked = live.units } = slot;
  const form = <SlotForm {...props} isCapacityOnly />;
  return (
    <EditSection title={words.fields.capacity} label={text.edit.capacity} form={form}>
      {capacity === undefined ? (
        <Empty>{text.noCapacity(booked)}</Empty>
      ) : (
        <>
          <CapacityBar booked={booked} held={live.held} capacity={capacity} />
          <p>{text.room(booked, capacity, live.held)}</p>
        </>
      )}
    </EditSection>
  );
}

/** Shows when a slot is delivered, until when it takes orders, and its groups. */
export function TimesSection(props: BookedSectionProps) {
  const groups = useGroups();
  const { record: slot } = props;
  return (
    <EditSection title={text.times} label={text.edit.times} form={<SlotForm {...props} />}>
      <Facts
        rows={[
          [text.deliveryTime, slotTime(slot)],
          [words.fields.freezeTime, <Time key="freeze" at={slot.freezeTime} />],
          [words.fields.groupIds, groupNames(groups, slot.groupIds) || words.none],
          [words.fields.slotId, slot.id],
        ]}
      />
    </EditSection>
  );
}

function SlotForm(props: BookedSectionProps & { readonly isCapacityOnly?: boolean }) {
  const { record: slot, live, isCapacityOnly } = props;
  const groups = useGroups();
  const now = useNow(20_000);
  const write = useWrite(SlotService.method.updateSlot, ({ message }) => ({ text: message }));
  const { draft, setDraft, start, contradiction, form } = useSectionEdit(props, write, draftOf, updateOf);
  const isChanged = (field: keyof SlotDraft) => !isSame(draft[field], start[field]);
  const isElsewhere = isChanged('deliveryTime') || isChanged('groups');
  const { taken, isChecking } = useTaken(slot.isActive && isElsewhere ? plansOf(draft, slot.id) : []);
  const isMoved = live.customers > 0 && (isChanged('deliveryTime') || isChanged('windowMinutes'));
  const isTooSmall = isChanged('capacity') && Number(draft.capacity) > 0 && Number(draft.capacity) < live.units;
  const describe = (field: keyof SlotDraft, { groups: chosen, ...changed }: SlotDraft) => {
    const ids = chosen.map(({ id }) => id);
    const value = field === 'groups' ? groupNames(groups, ids) : changed[field];
    const at = field.endsWith('Time') ? readTimeInput(value) : undefined;
    return [slotLabels[field], at === undefined ? value : formatDate(at)] as const;
  };
  const fields = { draft, onChange: setDraft };
  const name = words.slots.slot(slot.id).toLowerCase();
  const by = <LastChange type="slot" id={slot.id} />;
  return (
    <EditForm
      {...form}
      concerns={[
        ...concernsOf(draft, now, start),
        ...(isMoved ? [text.concerns.moved(live.customers)] : []),
        ...(isTooSmall ? [text.concerns.tooSmall(live.units)] : []),
        ...taken,
      ]}
      isChecking={isChecking || live.isCounting}
    >
      {isCapacityOnly ? <CapacityField autoFocus {...fields} /> : <TimesFields {...fields} />}
      {contradiction !== undefined && (
        <Conflict record={name} by={by} contradiction={contradiction} describe={describe} />
      )}
    </EditForm>
  );
}

/** Shows the products that can be delivered in a slot. */
export function ProductsSection(props: SectionProps<SlotDetail>) {
  const products = productsOf(props.record);
  const form = <ProductsForm {...props} />;
  return (
    <EditSection title={text.products(products.length)} label={text.edit.products} form={form}>
      {products.length === 0 ? (
        <Empty>{text.noProducts}</Empty>
      ) : (
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

/** Lists of products never contradict one another: additions and removals are merged. */
function ProductsForm(props: SectionProps<SlotDetail>) {
  const { record: slot } = props;
  const write = useWrite(SlotService.method.updateSlotProducts, ({ added, removed }) => ({
    text: text.productsChanged(added, removed),
  }));
  const { draft, setDraft, start, form } = useSectionEdit(
    props,
    write,
    (record): { readonly products: readonly Option[] } => ({ products: productsOf(record) }),
    ({ products }, { id, etag }) => ({ slotId: id, productIds: idsOf(products), etag }),
  );
  const change = difference(idsOf(start.products), idsOf(draft.products));
  const names = new Map([...start.products, ...draft.products].map(({ id, name }) => [id, name]));
  return (
    <EditForm
      {...form}
      isDirty={change.added.length + change.removed.length > 0}
      concerns={slot.isActive && change.removed.length > 0 ? emptyConcerns(draft.products, slot.groupIds) : []}
    >
      <ProductPicker
        chosen={draft.products}
        onChange={(products) => setDraft({ products })}
        problem={write.failure?.fields.productIds}
      />
      <DifferenceView {...change} nameOf={(id) => names.get(id) ?? words.lookup.product(id)} />
    </EditForm>
  );
}

const idsOf = (products: readonly Option[]) => products.map(({ id }) => id);
