import type { ClipboardEvent, ReactNode } from 'react';
import { GridList, GridListItem } from 'react-aria-components/GridList';
import { useDragAndDrop } from 'react-aria-components/useDragAndDrop';
import { TextField } from '../../forms/text-field.tsx';
import type { Orders } from '../../lookup/orders.ts';
import { move } from '../../sequence/sequence.ts';
import { describeStop } from '../../sequence/stops.tsx';
import { Button } from '../../ui/button.tsx';
import { readIds } from '../../ui/text.ts';

interface StopListProps {
  readonly name: string;
  readonly stops: readonly number[];
  readonly orders: Orders;
  onChange(stops: readonly number[]): void;
  /** What stands in the field for further orders. Saving adds it, too. */
  readonly typed: string;
  onTyped(text: string): void;
}

const noList = 'Enter the numbers of orders, such as 12, 15.';

/** Lists a user's orders in their sequence. Staff drag them by mouse, touch or keyboard, or move them with buttons. */
export function StopList({ name, stops, orders, typed, onChange, onTyped }: StopListProps): ReactNode {
  const items = withKeys(stops);
  const positionOf = (key: string | number) => items.findIndex(({ id }) => id === key);
  const { dragAndDropHooks } = useDragAndDrop({
    getItems: (keys) => [...keys].map((key) => ({ 'text/plain': String(key) })),
    onReorder: ({ keys, target }) => {
      if (target.dropPosition === 'on') return;
      onChange(move(stops, new Set([...keys].map(positionOf)), positionOf(target.key), target.dropPosition));
    },
  });
  const add = (text: string) => {
    const numbers = readIds(text);
    onTyped(numbers.length > 0 ? '' : text);
    if (numbers.length > 0) onChange([...stops, ...numbers]);
  };
  // A field of one line would join the lines of a pasted column.
  const paste = (event: ClipboardEvent) => {
    const text = event.clipboardData.getData('text');
    if (readIds(text).length < 2) return;
    event.preventDefault();
    add(`${typed} ${text}`);
  };
  return (
    <section aria-label={name}>
      <h3>{name}</h3>
      <GridList
        aria-label={`Orders of ${name}`}
        items={items}
        dragAndDropHooks={dragAndDropHooks}
        className="stops"
        renderEmptyState={() => 'No orders yet.'}
      >
        {({ id, stop, position }) => (
          <GridListItem id={id} textValue={`Order ${stop}`} className="stop">
            <Button slot="drag" emphasis="quiet" aria-label={`Drag order ${stop}`}>
              ≡
            </Button>
            <span>{describeStop(stop, orders)}</span>
            <Button
              emphasis="quiet"
              aria-label={`Move order ${stop} up`}
              onPress={() => onChange(move(stops, new Set([position]), Math.max(0, position - 1), 'before'))}
            >
              ↑
            </Button>
            <Button
              emphasis="quiet"
              aria-label={`Move order ${stop} down`}
              onPress={() =>
                onChange(move(stops, new Set([position]), Math.min(stops.length - 1, position + 1), 'after'))
              }
            >
              ↓
            </Button>
            <Button
              emphasis="quiet"
              aria-label={`Remove order ${stop}`}
              onPress={() => onChange(stops.filter((_, index) => index !== position))}
            >
              ✕
            </Button>
          </GridListItem>
        )}
      </GridList>
      <div className="add-stops">
        <TextField
          label={`Add orders for ${name}`}
          hint={
            readIds(typed)
              .map((stop) => describeStop(stop, orders))
              .join('; ') || undefined
          }
          onPaste={paste}
          validate={(text) => (text.trim() === '' || readIds(text).length > 0 ? undefined : noList)}
          inputMode="numeric"
          value={typed}
          onChange={onTyped}
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return;
            // Enter adds what was typed, and must not submit the form. It tells at once what is no list.
            event.preventDefault();
            event.currentTarget.dispatchEvent(new Event('change'));
            add(typed);
          }}
        />
        <Button onPress={() => add(typed)}>Add</Button>
      </div>
    </section>
  );
}

/** Gives stops keys that stay with them when the order changes, even if the same stop occurs twice. */
function withKeys(stops: readonly number[]) {
  const counts = new Map<number, number>();
  return stops.map((stop, position) => {
    const count = counts.get(stop) ?? 0;
    counts.set(stop, count + 1);
    return { id: `${stop}#${count}`, stop, position };
  });
}
