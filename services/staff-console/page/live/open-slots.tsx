import { timestampDate, timestampMs } from '@bufbuild/protobuf/wkt';
import { type ReactNode, useState } from 'react';
import { Link } from 'react-aria-components/Link';
import type { OpenSlot } from '../../../../shared/gen/slot/v1/slot_store_service_pb.ts';
import { formatDay, Time, timeLeft, useNow } from '../business/time.tsx';
import { dateInput } from '../business/time-input.ts';
import { useProductNames } from '../lookup/catalog.ts';
import { Button } from '../ui/button.tsx';
import './live.css';

const tickMs = 10_000;
// A page with more slots at once would be slow, and nobody would read it.
const shownAtOnce = 100;
const namedProducts = 3;
// The most products that GetProducts accepts.
const namedMost = 1_000;

interface OpenSlotsProps {
  /** Ordered by delivery time. */
  readonly slots: readonly OpenSlot[];
  /** Shown if no slot is open. */
  readonly empty: ReactNode;
}

/** Lists open slots by day. Each leaves the list when its orders close, as it leaves the storefront. */
export function OpenSlots({ slots, empty }: OpenSlotsProps): ReactNode {
  const [most, setMost] = useState(shownAtOnce);
  const now = useNow(tickMs);
  const open = slots.filter(({ freezeTime }) => freezeTime === undefined || timestampMs(freezeTime) > now);
  const shown = open.slice(0, most);
  const named = [...new Set(shown.flatMap(({ productIds }) => productIds.slice(0, namedProducts)))];
  const nameOf = useProductNames(named.slice(0, namedMost).sort((a, b) => a - b));
  if (open.length === 0) return empty;
  return (
    <>
      <p className="detail" role="status">
        {open.length === 1 ? '1 slot is open.' : `${open.length} slots are open.`}
      </p>
      {[...byDay(shown)].map(([day, slotsOfDay]) => (
        <section key={day} aria-label={day}>
          <h3>{day}</h3>
          <ul className="live-slots">
            {slotsOfDay.map((slot) => (
              <OpenSlotRow key={slot.id} slot={slot} now={now} nameOf={nameOf} />
            ))}
          </ul>
        </section>
      ))}
      {open.length > most && <Button onPress={() => setMost(most + shownAtOnce)}>Show more</Button>}
    </>
  );
}

interface OpenSlotRowProps {
  readonly slot: OpenSlot;
  readonly now: number;
  readonly nameOf: (productId: number) => string;
}

function OpenSlotRow({ slot, now, nameOf }: OpenSlotRowProps): ReactNode {
  const { id, deliveryTime, freezeTime, productIds } = slot;
  const left = freezeTime === undefined ? undefined : timeLeft(timestampMs(freezeTime), now);
  return (
    <li>
      <Link href={`/slots/${id}`}>
        <Time at={deliveryTime} short /> <span className="detail">Slot {id}</span>
      </Link>
      {left !== undefined && <span>Orders close in {left}</span>}
      <span className="detail">{describeProducts(productIds, nameOf)}</span>
    </li>
  );
}

function describeProducts(ids: readonly number[], nameOf: (id: number) => string): string {
  if (ids.length === 0) return 'No products';
  const names = ids.slice(0, namedProducts).map(nameOf).join(', ');
  const rest = ids.length - namedProducts;
  const count = ids.length === 1 ? '1 product' : `${ids.length} products`;
  return `${count}: ${names}${rest > 0 ? ` and ${rest} more` : ''}`;
}

function byDay(slots: readonly OpenSlot[]): Map<string, OpenSlot[]> {
  const days = new Map<string, [Date, OpenSlot[]]>();
  for (const slot of slots) {
    const time = slot.deliveryTime === undefined ? new Date(0) : timestampDate(slot.deliveryTime);
    const key = dateInput(time);
    const day = days.get(key);
    if (day === undefined) days.set(key, [time, [slot]]);
    else day[1].push(slot);
  }
  return new Map([...days.values()].map(([time, slotsOfDay]) => [formatDay(time), slotsOfDay]));
}
