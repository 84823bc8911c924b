import { Link } from 'react-aria-components/Link';
import {
  type ListSlotsResponse,
  type PlannedSlot,
  SlotOrder,
  SlotPlanService,
  SlotState,
} from '#gen/slot/v1/slot_plan_service_pb';
import { useNow } from '../business/time.tsx';
import { dateInput, fileTime, fromTimeInput, readDay, shiftDay } from '../business/time-input.ts';
import { SelectField } from '../forms/select-field.tsx';
import { TextField } from '../forms/text-field.tsx';
import { type Column, timeColumn } from '../lists/column.tsx';
import { useFilters } from '../lists/filters.ts';
import { List } from '../lists/list.tsx';
import type { Selection } from '../lists/selection.tsx';
import { Views } from '../lists/views.tsx';
import { groupNames, useGroups } from '../lookup/names.ts';
import { ProductFilter } from '../lookup/record-filters.tsx';
import { Page } from '../ui/page.tsx';
import { readId } from '../ui/text.ts';
import { words } from '../words.ts';
import { SlotActions } from './bulk/slot-actions.tsx';
import { useMoving } from './bulk/use-moving.tsx';
import { isOnFrom, reachingBack } from './record/ends.ts';
import { CapacityBar, SlotBadge, slotTime, stateOf } from './record/slot-state.tsx';
import { describeProducts, slotViews } from './week/hour-cell.tsx';
import './record/slots.css';

const text = words.slots;
const states = Object.entries(text.states);
const create = { name: text.newSlot, href: '/slots/new' };
const rowsOf = ({ slots }: ListSlotsResponse) => slots;

/** Lists the slots from a day on, soonest first unless staff ask otherwise, and as they filter them. */
export function Component() {
  const { values, set, field } = useFilters(['from', 'until', 'state', 'product', 'group', 'order']);
  const groups = useGroups();
  const now = useNow(20_000);
  const from = values.from === 'any' ? '' : (readDay(values.from) ?? dateInput(new Date(now)));
  const until = readDay(values.until);
  // Of days that are chosen, the first one also has the slots that go on from the day before.
  const goesOn = from !== '' && until !== undefined ? isOnFrom(from) : undefined;
  const isInState = values.state === '' ? undefined : (slot: PlannedSlot) => stateOf(slot, now) === values.state;
  const isLatestFirst = values.order === 'latest';
  const [productId, groupId] = [readId(values.product), readId(values.group)];
  const request = {
    deliveryFrom: goesOn === undefined ? from && fromTimeInput(`${from}T00:00`) : reachingBack(from),
    deliveryUntil: until === undefined ? '' : fromTimeInput(`${shiftDay(until, 1)}T00:00`),
    states: [values.state === 'deactivated' ? SlotState.INACTIVE : SlotState.ACTIVE],
    ...(productId !== undefined && { productId }),
    ...(groupId !== undefined && { groupId }),
    order: isLatestFirst ? SlotOrder.LATEST_FIRST : SlotOrder.SOONEST_FIRST,
    withTotal: true,
  };
  const named = [...groups].map(([id, name]) => [String(id), name] as const);
  return (
    <Page title={text.title} create={create}>
      <Views label={text.views} links={slotViews}>
        <TextField label={words.from} type="date" value={from} onChange={(day) => set({ from: day || 'any' })} />
        <TextField label={text.to} type="date" {...field('until')} />
        <SelectField label={words.fields.state} none={text.anyActive} options={states} {...field('state')} />
        <ProductFilter {...field('product')} />
        <SelectField label={text.group} none={words.any} options={named} {...field('group')} />
      </Views>
      <List
        source={{ method: SlotPlanService.method.listSlots, request, rowsOf }}
        matches={goesOn === undefined ? isInState : (slot) => goesOn(slot) && isInState?.(slot) !== false}
        what="slots"
        empty={text.empty}
        create={create}
        noMatch={text.noMatch}
        caption={isLatestFirst ? text.latestFirst : text.soonestFirst}
        columns={slotColumns(now, groups)}
        order={{
          isOfService: true,
          by: words.fields.deliveryTime,
          direction: isLatestFirst ? 'descending' : 'ascending',
          sort: () => set({ order: isLatestFirst ? '' : 'latest' }),
        }}
        forSelected={(slots, selection) => <ForSelected {...{ slots, selection, now }} />}
      />
    </Page>
  );
}

interface ForSelectedProps {
  readonly slots: readonly PlannedSlot[];
  readonly selection: Selection<PlannedSlot>;
  readonly now: number;
}

function ForSelected({ slots, selection, now }: ForSelectedProps) {
  const { ask, dialog } = useMoving(now, selection.only);
  return (
    <>
      <SlotActions {...{ slots, now }} onMove={() => ask(slots)} />
      {dialog}
    </>
  );
}

const bookedColumn = { title: words.fields.bookedAt, text: ({ booked }: PlannedSlot) => String(booked ?? '') };

function slotColumns(now: number, groups: ReadonlyMap<number, string>): readonly Column<PlannedSlot>[] {
  return [
    {
      title: words.fields.deliveryTime,
      show: (slot) => (
        <>
          <Link href={`/slots/${slot.id}`}>{slotTime(slot)}</Link> <span className="detail">{text.slot(slot.id)}</span>
        </>
      ),
      text: (slot) => `${slotTime(slot)}, ${text.slot(slot.id)}`,
      file: [
        { title: words.fields.slotId, text: ({ id }) => String(id) },
        { title: words.fields.deliveryTime, text: ({ deliveryTime }) => fileTime(deliveryTime), isTime: true },
        { title: words.fields.windowMinutes, text: ({ windowMinutes }) => String(windowMinutes ?? '') },
      ],
      className: 'name',
    },
    timeColumn(words.fields.freezeTime, ({ freezeTime }: PlannedSlot) => freezeTime),
    {
      title: words.fields.state,
      show: (slot) => <SlotBadge slot={slot} now={now} />,
      text: (slot) => text.states[stateOf(slot, now)],
    },
    {
      ...bookedColumn,
      show: ({ booked = 0, capacity }) =>
        capacity !== undefined && (
          <>
            {text.ofCapacity(booked, capacity)}
            <CapacityBar {...{ booked, capacity }} />
          </>
        ),
      file: [bookedColumn, { title: words.fields.capacity, text: ({ capacity }) => String(capacity ?? '') }],
      className: 'name',
    },
    { title: words.fields.productIds, text: describeProducts, className: 'detail clip' },
    { title: words.fields.groupIds, text: ({ groupIds }) => groupNames(groups, groupIds), className: 'detail clip' },
  ];
}
