import { toJson } from '@bufbuild/protobuf';
import { ValueSchema } from '@bufbuild/protobuf/wkt';
import { useQuery } from '@connectrpc/connect-query';
import { useIsFetching } from '@tanstack/react-query';
import { useSearchParams } from 'react-router';
import { SlotBookingState } from '#gen/slot/v1/slot_booking_service_pb';
import { type ListSlotsResponse, SlotPlanService } from '#gen/slot/v1/slot_plan_service_pb';
import { SlotService } from '#gen/slot/v1/slot_service_pb';
import { formatAmount } from '../../business/money.ts';
import { formatDay, formatTime, useNow } from '../../business/time.tsx';
import { dateInput, fromTimeInput, readDay, readTimeInput, shiftDay } from '../../business/time-input.ts';
import { useRows } from '../../lists/source.ts';
import { groupNames, useGroups, useOrderIds, useOrders, useProductNames, useUsers } from '../../lookup/names.ts';
import { readSequence } from '../../sequence/sequence.ts';
import { clock } from '../../session/clock.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Empty, Page, Read } from '../../ui/page.tsx';
import { isolate, readId } from '../../ui/text.ts';
import { words } from '../../words.ts';
import { bookingsOf } from '../bookings/live-bookings.ts';
import { productsOf } from '../record/draft.ts';
import { endsAt, isOnFrom, reachingBack } from '../record/ends.ts';
import { slotTime } from '../record/slot-state.tsx';
import './sheets.css';

const text = words.slot.sheets;
const { states } = words.slots;
const rowsOf = ({ slots }: ListSlotsResponse) => slots;

/** The run sheets to print: of one slot, or of all active slots of a day, each on a page of its own. */
export function Component() {
  const [params] = useSearchParams();
  const slotId = readId(params.get('slot'));
  const day = readDay(params.get('day')) ?? dateInput(new Date(clock.now()));
  const name = formatDay(readTimeInput(`${day}T12:00`) ?? new Date(day));
  // What is printed early would lack what is still being read.
  const isReading = useIsFetching() > 0;
  return (
    <Page
      title={slotId === undefined ? text.ofDay(name) : text.of(slotId)}
      actions={
        <>
          <ButtonLink href={slotId === undefined ? `/slots?day=${day}` : `/slots/${slotId}`}>{text.back}</ButtonLink>
          <Button emphasis="primary" isPending={isReading} onPress={() => window.print()}>
            {isReading ? words.lists.loading : text.print}
          </Button>
        </>
      }
    >
      {slotId === undefined ? (
        <SheetsOfDay day={day} isWithPast={params.get('past') === 'shown'} />
      ) : (
        <Sheet slotId={slotId} />
      )}
    </Page>
  );
}

function SheetsOfDay({ day, isWithPast }: { readonly day: string; readonly isWithPast: boolean }) {
  const now = useNow(20_000);
  const request = {
    deliveryFrom: reachingBack(day),
    deliveryUntil: fromTimeInput(`${shiftDay(day, 1)}T00:00`),
    limit: 1_000,
  };
  const list = useRows({ method: SlotPlanService.method.listSlots, request, rowsOf }, true);
  const isToday = day === dateInput(new Date(now));
  return (
    <Read query={{ ...list, data: list.rows }} what={words.slots.theSlots}>
      {(found) => {
        const slots = found.filter(isOnFrom(day));
        // Of another day that has passed, all are shown.
        const shown = slots.filter((slot) => isWithPast || !isToday || !(endsAt(slot) < now));
        const hidden = slots.length - shown.length;
        return (
          <>
            {slots.length === 0 && <Empty>{words.slot.move.none}</Empty>}
            {hidden > 0 && (
              <ButtonLink href={`/slots/sheets?day=${day}&past=shown`}>{text.showPast(hidden)}</ButtonLink>
            )}
            {shown.map(({ id }) => (
              <Sheet key={id} slotId={id} />
            ))}
          </>
        );
      }}
    </Read>
  );
}

/** What is taken along to a slot: whom to deliver to in which order, and what, as lists to tick and to sign. */
function Sheet({ slotId }: { readonly slotId: number }) {
  const query = useQuery(SlotService.method.getSlotById, { id: slotId });
  const sequence = useQuery(SlotService.method.getDeliverySequence, { id: String(slotId) });
  const groups = useGroups();
  const slot = query.data?.slot;
  const products = slot ? productsOf(slot) : [];
  const snippets = slot?.vendorSnippets ?? [];
  const nameOf = useProductNames([...new Set(snippets.flatMap(({ productIds }) => productIds))]);
  return (
    <article className="card sheet" aria-label={text.of(slotId)}>
      <Read query={{ ...query, data: slot }} what={words.slot.what}>
        {({ freezeTime, groupIds, isActive, isCapacityFull, ...of }) => {
          const state = isActive ? isCapacityFull && states.full : states.deactivated;
          const facts = [text.closes(formatTime(freezeTime)), groupNames(groups, groupIds), state];
          return (
            <>
              <h2>{`${slotTime(of)} · ${words.slots.slot(of.id)}`}</h2>
              <p className="detail">{facts.filter(Boolean).join(' · ')}</p>
            </>
          );
        }}
      </Read>
      <Read query={sequence} what={words.slot.sequence.what}>
        {({ deliverySequence }) => {
          const json = JSON.stringify(deliverySequence ? toJson(ValueSchema, deliverySequence) : {});
          const stops = readSequence(json);
          return (
            <>
              {stops === undefined && <pre>{json}</pre>}
              <Visits slotId={slotId} stops={Object.values(stops ?? {}).flat()} />
            </>
          );
        }}
      </Read>
      {slot !== undefined && (
        <>
          <h3>{words.slot.products(products.length)}</h3>
          <ul className="columns boxes">
            {products.map(({ id, name }) => (
              <li key={id}>{name}</li>
            ))}
          </ul>
        </>
      )}
      {snippets.length > 0 && (
        <>
          <h3>{words.slot.snippets.title(snippets.length)}</h3>
          <ul className="plain boxes">
            {snippets.map(({ snippetCode, productIds, validTill }) => (
              <li key={snippetCode}>
                <strong>{isolate(snippetCode)}</strong>: {productIds.map(nameOf).join(', ')}
                {validTill !== undefined && ` (${words.orders.until(formatTime(validTill))})`}
              </li>
            ))}
          </ul>
        </>
      )}
    </article>
  );
}

/** Whom the courier goes to: the stops in their order, then what is booked without a stop. Each has a place to sign. */
function Visits({ slotId, stops }: { readonly slotId: number; readonly stops: readonly number[] }) {
  const list = useRows(bookingsOf({ slotId, states: [] }), true);
  const rows = list.isReading ? undefined : list.rows;
  // What is only held is not paid yet.
  const booked = rows?.filter(({ state }) => state === SlotBookingState.BOOKED).toReversed() ?? [];
  const ids = useOrderIds(booked.map(({ orderKey }) => orderKey));
  const numbered = booked.map((booking) => ({ booking, order: ids?.get(booking.orderKey) }));
  const bookings = new Map(numbered.map(({ order, booking }) => [order, booking]));
  const stopped = new Set(stops);
  const visits = [
    ...stops.map((order) => ({ order, booking: bookings.get(order) })),
    ...numbered.filter(({ order }) => order === undefined || !stopped.has(order)),
  ];
  const { orders } = useOrders(rows && ids ? [...new Set(visits.flatMap(({ order }) => order ?? []))] : []);
  const userOf = useUsers([...new Set(booked.flatMap(({ userId }) => userId ?? []))]);
  return (
    <Read query={{ ...list, data: rows && ids && visits }} what={text.visits}>
      {() =>
        visits.length === 0 ? (
          <Empty>{text.noVisits}</Empty>
        ) : (
          <table className="visits">
            <thead>
              <tr>
                {text.columns.map((column) => (
                  <th key={column} scope="col">
                    {column}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {visits.map(({ order: number = 0, booking }, index) => {
                const order = orders.get(number);
                const user = booking?.userId === undefined ? order?.user : userOf(booking.userId);
                return (
                  // biome-ignore lint/suspicious/noArrayIndexKey: a stop may occur twice, and the list is not edited.
                  <tr key={index}>
                    <td>{index < stops.length && index + 1}</td>
                    <td>
                      {isolate(user?.name ?? '')}{' '}
                      {user?.mobile && (
                        <a className="detail" href={`tel:${user.mobile}`}>
                          {user.mobile}
                        </a>
                      )}
                    </td>
                    <td>
                      {isolate(booking?.orderKey ?? order?.externalId ?? String(number))}{' '}
                      {order?.totalAmount !== undefined && (
                        <span className="detail">{formatAmount(order.totalAmount)}</span>
                      )}
                    </td>
                    <td>{booking?.units ?? (rows?.length ? text.noBooking : '')}</td>
                    <td />
                  </tr>
                );
              })}
            </tbody>
          </table>
        )
      }
    </Read>
  );
}
