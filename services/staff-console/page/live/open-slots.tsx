import { timestampMs } from '@bufbuild/protobuf/wkt';
import { type ReactNode, useId, useState } from 'react';
import { Link } from 'react-aria-components/Link';
import type { OpenSlot } from '#gen/slot/v1/slot_store_service_pb';
import { timeLeft, useNow } from '../business/time.tsx';
import type { Column } from '../lists/column.ts';
import { ListTable } from '../lists/list-table.tsx';
import { useProductNames } from '../lookup/names.ts';
import { slotTime } from '../slots/record/slot-time.ts';
import { Button } from '../ui/button.tsx';
import { Empty } from '../ui/page.tsx';
import { words } from '../words.ts';

const text = words.storefront;
// A page with more slots at once would be slow, and nobody would read it.
const shownAtOnce = 100;
const namedProducts = 3;

interface OpenSlotsProps {
  /** Ordered by delivery time. */
  readonly slots: readonly OpenSlot[];
  /** Whether the slots are those of one product: then the products of each are left out. */
  readonly isOfProduct?: boolean;
  /** Shown if no slot is open. */
  readonly children: ReactNode;
}

/** Lists open slots. Each leaves the list when its orders close, as it leaves the storefront. */
export function OpenSlots({ slots, isOfProduct = false, children }: OpenSlotsProps) {
  const [most, setMost] = useState(shownAtOnce);
  const now = useNow(10_000);
  const id = useId();
  const open = slots.filter(({ freezeTime }) => freezeTime === undefined || timestampMs(freezeTime) > now);
  const shown = open.slice(0, most);
  const named = new Set(shown.flatMap(({ productIds }) => productIds.slice(0, namedProducts)));
  const nameOf = useProductNames([...named].sort((a, b) => a - b));
  const columns: Column<OpenSlot>[] = [
    {
      title: text.delivery,
      text: (slot) => slotTime(slot),
      show: (slot) => <Link href={`/slots/${slot.id}`}>{slotTime(slot)}</Link>,
    },
    {
      title: text.close,
      className: 'time',
      text: ({ freezeTime }) => (freezeTime ? `in ${timeLeft(timestampMs(freezeTime), now)}` : ''),
    },
    {
      title: text.products,
      className: 'detail clip',
      text: ({ productIds: { length }, productIds }) =>
        length === 0
          ? text.noProducts
          : text.productsOf(length, productIds.slice(0, namedProducts).map(nameOf).join(', '), length - namedProducts),
    },
  ];
  if (open.length === 0) return <Empty>{children}</Empty>;
  return (
    <>
      <p id={id} className="detail" role="status">
        {text.open(open.length)}
      </p>
      <ListTable
        labelledBy={id}
        columns={isOfProduct ? columns.slice(0, 2) : columns}
        rows={shown}
        keyOf={(slot) => slot.id}
      />
      {open.length > most && <Button onPress={() => setMost(most + shownAtOnce)}>{words.lists.showMore}</Button>}
    </>
  );
}
