import { timestampDate } from '@bufbuild/protobuf/wkt';
import { useQuery } from '@connectrpc/connect-query';
import { type ReactNode, useMemo } from 'react';
import { useSearchParams } from 'react-router';
import { type Slot, SlotService } from '../../../../../shared/gen/slot/v1/slot_service_pb.ts';
import { TextField } from '../../forms/text-field.tsx';
import { useGroups, useProductNames } from '../../lookup/catalog.ts';
import { describeFailure } from '../../rpc/failure.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Empty, Loading, Page, Problem } from '../../ui/page.tsx';
import { formatDay, useNow } from '../../ui/time.tsx';
import { dateInput } from '../../ui/time-input.ts';
import { SlotCard } from './slot-card.tsx';
import { SlotViews } from './slot-views.tsx';
import '../record/slots.css';

const daysShown = 7;
/** How many products a card names. */
const namedProducts = 3;

/** Shows the active slots of a week, day by day. */
export function Component(): ReactNode {
  const [params, setParams] = useSearchParams();
  const { data, error, refetch } = useQuery(SlotService.method.getSlots, {});
  const now = useNow(20_000);
  const first = readDay(params.get('day')) ?? dateInput(new Date(now));
  const days = useMemo(() => slotsByDay(data?.slots ?? [], first), [data, first]);
  const { productIds, nameOf } = useProductsOf(days.flatMap(({ slots }) => slots.map(({ id }) => id)));
  const groups = useGroups();
  const show = (day: string, options = {}) => setParams(day === '' ? {} : { day }, options);
  return (
    <Page
      title="Slots"
      actions={
        <ButtonLink href="/slots/new" emphasis="primary">
          New slot
        </ButtonLink>
      }
    >
      <SlotViews>
        <div className="actions">
          <Button onPress={() => show(shiftDay(first, -daysShown))}>Earlier</Button>
          <Button onPress={() => show('')}>Today</Button>
          <Button onPress={() => show(shiftDay(first, daysShown))}>Later</Button>
        </div>
        <TextField label="From" type="date" value={first} onChange={(day) => show(day, { replace: true })} />
      </SlotViews>
      {error !== null && <Problem failure={describeFailure(error)} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading what="the slots" />}
      {data !== undefined && days.every(({ slots }) => slots.length === 0) && <Empty>No slots in these days.</Empty>}
      <div className="board">
        {days
          .filter(({ slots }) => slots.length > 0)
          .map(({ day, slots }) => (
            <section key={day} aria-label={formatDay(startOf(day))}>
              <h2>{formatDay(startOf(day))}</h2>
              <ul className="cards">
                {slots.map((slot) => (
                  <SlotCard
                    key={slot.id}
                    slot={slot}
                    now={now}
                    groups={groups}
                    productIds={productIds.get(slot.id)}
                    named={namedProducts}
                    nameOf={nameOf}
                  />
                ))}
              </ul>
            </section>
          ))}
      </div>
    </Page>
  );
}

interface BoardDay {
  /** Such as 2026-11-23. */
  readonly day: string;
  /** Ordered by delivery time. */
  readonly slots: readonly Slot[];
}

function slotsByDay(slots: readonly Slot[], first: string): BoardDay[] {
  const days = new Map<string, [Date, Slot][]>();
  for (let n = 0; n < daysShown; n += 1) days.set(shiftDay(first, n), []);
  for (const slot of slots) {
    if (slot.deliveryTime === undefined) continue;
    const time = timestampDate(slot.deliveryTime);
    days.get(dateInput(time))?.push([time, slot]);
  }
  return [...days].map(([day, timed]) => ({
    day,
    slots: timed.sort(([a], [b]) => a.getTime() - b.getTime()).map(([, slot]) => slot),
  }));
}

/** Returns the products of slots, and a function that names those that are shown. */
function useProductsOf(slotIds: readonly number[]) {
  const { data } = useQuery(
    SlotService.method.getSlotsProductIds,
    { slotIds: [...slotIds] },
    { enabled: slotIds.length > 0, placeholderData: (previous) => previous },
  );
  const productIds = useMemo(
    () => new Map(Object.entries(data?.productIds ?? {}).map(([id, list]) => [Number(id), list.ids])),
    [data],
  );
  const shown = [...new Set([...productIds.values()].flatMap((ids) => ids.slice(0, namedProducts)))];
  return { productIds, nameOf: useProductNames(shown.sort((a, b) => a - b)) };
}

/** Reads a day from the URL; undefined if it is invalid, such as while a year has too many digits. */
function readDay(text: string | null): string | undefined {
  return text !== null && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(startOf(text).getTime()) ? text : undefined;
}

// At noon, so that a change of the clocks does not move it to another day.
const startOf = (day: string) => new Date(`${day}T12:00`);

function shiftDay(day: string, days: number): string {
  const date = startOf(day);
  date.setDate(date.getDate() + days);
  return dateInput(date);
}
