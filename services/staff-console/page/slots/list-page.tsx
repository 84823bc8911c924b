import type { ReactNode } from 'react';
import { Link } from 'react-aria-components/Link';
import {
  type PlannedSlot,
  SlotOrder,
  SlotPlanService,
  SlotState,
} from '../../../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { Time, useNow } from '../business/time.tsx';
import { dateInput, fileTime, fromTimeInput, readDay, shiftDay } from '../business/time-input.ts';
import { SelectField } from '../forms/select-field.tsx';
import { TextField } from '../forms/text-field.tsx';
import type { Column } from '../lists/column.ts';
import { useFilters } from '../lists/filters.ts';
import { List } from '../lists/list.tsx';
import { byToken } from '../lists/source.ts';
import { Views } from '../lists/views.tsx';
import { groupNames, useGroups } from '../lookup/names.ts';
import { ProductFilter } from '../lookup/record-filters.tsx';
import { ButtonLink } from '../ui/button.tsx';
import { Page } from '../ui/page.tsx';
import { readId } from '../ui/text.ts';
import { CapacityButton } from './record/capacity-button.tsx';
import { SlotBadge, slotStates, stateOf } from './record/slot-state.tsx';
import { describeProducts, slotViews } from './week/slot-card.tsx';
import './record/slots.css';

const stateOptions = Object.entries(slotStates);

/** Lists the slots from a day on, soonest first unless staff ask otherwise, and as they filter them. */
export function Component(): ReactNode {
  const { values, set, field } = useFilters(['from', 'until', 'state', 'product', 'group', 'order']);
  const groups = useGroups();
  const now = useNow(20_000);
  const from = values.from === 'any' ? '' : (readDay(values.from) ?? dateInput(new Date(now)));
  const until = readDay(values.until);
  const isLatestFirst = values.order === 'latest';
  const [productId, groupId] = [readId(values.product), readId(values.group)];
  const request = {
    ...(from !== '' && { deliveryFrom: fromTimeInput(`${from}T00:00`) }),
    ...(until !== undefined && { deliveryUntil: fromTimeInput(`${shiftDay(until, 1)}T00:00`) }),
    states: [values.state === 'deactivated' ? SlotState.INACTIVE : SlotState.ACTIVE],
    ...(productId !== undefined && { productId }),
    ...(groupId !== undefined && { groupId }),
    order: isLatestFirst ? SlotOrder.LATEST_FIRST : SlotOrder.SOONEST_FIRST,
    limit: 50,
  };
  const matches = (slot: PlannedSlot) => values.state === '' || stateOf(slot, now) === values.state;
  return (
    <Page
      title="Slots"
      actions={
        <ButtonLink href="/slots/new" emphasis="primary">
          New slot
        </ButtonLink>
      }
    >
      <Views label="Views of the slots" links={slotViews}>
        <TextField label="From" type="date" value={from} onChange={(day) => set({ from: day === '' ? 'any' : day })} />
        <TextField label="To" type="date" {...field('until')} />
        <SelectField label="State" none="Any active" options={stateOptions} {...field('state')} />
        <ProductFilter {...field('product')} />
        <SelectField
          label="Group"
          none="Any"
          options={[...groups].map(([number, name]) => [String(number), name])}
          {...field('group')}
        />
      </Views>
      <List
        source={{ method: SlotPlanService.method.listSlots, request, rowsOf: ({ slots }) => slots, next: byToken }}
        matches={matches}
        what="slots"
        empty="No slot matches."
        caption={isLatestFirst ? 'Latest delivery first' : 'Soonest delivery first'}
        columns={slotColumns(now, groups)}
        keyOf={(slot) => slot.id}
        order={{
          by: 'Delivery',
          direction: isLatestFirst ? 'descending' : 'ascending',
          sort: () => set({ order: isLatestFirst ? '' : 'latest' }),
        }}
      />
    </Page>
  );
}

function slotColumns(now: number, groups: ReadonlyMap<number, string>): readonly Column<PlannedSlot>[] {
  return [
    {
      title: 'Slot',
      show: (slot) => <Link href={`/slots/${slot.id}`}>Slot {slot.id}</Link>,
      text: (slot) => String(slot.id),
      className: 'name',
    },
    {
      title: 'Delivery',
      show: ({ deliveryTime }) => <Time at={deliveryTime} />,
      text: ({ deliveryTime }) => fileTime(deliveryTime),
      isTime: true,
      // The service sorts by it.
      compare: () => 0,
      className: 'time',
    },
    {
      title: 'Orders close',
      show: ({ freezeTime }) => <Time at={freezeTime} />,
      text: ({ freezeTime }) => fileTime(freezeTime),
      isTime: true,
      className: 'time',
    },
    {
      title: 'State',
      show: (slot) => <SlotBadge slot={slot} now={now} />,
      text: (slot) => slotStates[stateOf(slot, now)],
    },
    { title: 'Products', text: describeProducts, className: 'detail clip' },
    {
      title: 'Groups',
      text: ({ groupIds }) => groupNames(groups, groupIds),
      className: 'detail clip',
    },
    {
      title: 'Capacity',
      show: (slot) => <CapacityButton slot={slot} now={now} />,
      text: ({ isCapacityFull }) => (isCapacityFull ? 'Full' : ''),
      className: 'name',
    },
  ];
}
