import { ArrowDown, ArrowUp, GripVertical, X } from 'lucide-react';
import { GridList, GridListItem } from 'react-aria-components/GridList';
import { type DropItem, isTextDropItem, useDragAndDrop } from 'react-aria-components/useDragAndDrop';
import type { Orders } from '../../lookup/names.ts';
import { moveStops, type Place, type Sequence, stepStop, stopsBefore } from '../../sequence/sequence.ts';
import { describeStop } from '../../sequence/stored-sequence.tsx';
import { Button } from '../../ui/button.tsx';
import { words } from '../../words.ts';

const text = words.slot.sequence;
const dragType = 'stop';

interface StopListProps {
  readonly user: string;
  readonly name: string;
  readonly sequence: Sequence;
  readonly orders: Orders;
  onChange(sequence: Sequence): void;
}

/** Lists a user's part of a slot's stops. Staff drag them, also to another user's part, or move them with buttons. */
export function StopList({ user, name, sequence, orders, onChange }: StopListProps) {
  const stops = sequence[user] ?? [];
  const before = stopsBefore(sequence, user);
  // The keys stay with the stops when the order changes, even if the same stop occurs twice.
  const items = stops.map((stop, position) => ({
    id: `${stop}#${stops.slice(0, position).filter((each) => each === stop).length}`,
    stop,
    position,
  }));
  const placeOf = (key: string | number): Place => ({ user, index: items.findIndex(({ id }) => id === key) });
  const indexAt = ({ key, dropPosition }: { readonly key: string | number; readonly dropPosition: string }) =>
    placeOf(key).index + (dropPosition === 'before' ? 0 : 1);
  const move = (moved: readonly Place[], index: number) => onChange(moveStops(sequence, moved, { user, index }));
  const take = async (dropped: readonly DropItem[], index: number) => {
    const places = await Promise.all(dropped.filter(isTextDropItem).map((item) => item.getText(dragType)));
    move(places.map(readPlace), index);
  };
  const { dragAndDropHooks } = useDragAndDrop({
    getItems: (keys) => [...keys].map((key) => ({ [dragType]: `${user} ${placeOf(key).index}` })),
    acceptedDragTypes: [dragType],
    getDropOperation: () => 'move',
    onReorder: ({ keys, target }) => move([...keys].map(placeOf), indexAt(target)),
    onInsert: ({ items: dropped, target }) => void take(dropped, indexAt(target)),
    onRootDrop: ({ items: dropped }) => void take(dropped, stops.length),
  });
  /** The button that was pressed keeps the focus, also where the stop is another customer's now. */
  const step = (label: string, at: Place, by: -1 | 1) => {
    onChange(stepStop(sequence, at, by));
    requestAnimationFrame(() => document.querySelector<HTMLElement>(`[aria-label="${label}"]`)?.focus());
  };
  return (
    <section aria-label={name}>
      <h3>{name}</h3>
      <GridList
        aria-label={text.ordersOf(name)}
        items={items}
        dragAndDropHooks={dragAndDropHooks}
        className="stops"
        renderEmptyState={() => text.noOrders}
      >
        {({ id, stop, position }) => {
          const at = { user, index: position };
          const buttons = [
            [text.up(stop), ArrowUp, () => step(text.up(stop), at, -1)],
            [text.down(stop), ArrowDown, () => step(text.down(stop), at, 1)],
            [text.remove(stop), X, () => onChange({ ...sequence, [user]: stops.toSpliced(position, 1) })],
          ] as const;
          return (
            <GridListItem id={id} textValue={text.stop(stop)} className="stop">
              <Button slot="drag" emphasis="quiet" aria-label={text.drag(stop)}>
                <GripVertical />
              </Button>
              <span className="detail">{before + position + 1}</span>
              <span className="what">{describeStop(stop, orders)}</span>
              {buttons.map(([label, Icon, press]) => (
                <Button key={label} emphasis="quiet" aria-label={label} onPress={press}>
                  <Icon />
                </Button>
              ))}
            </GridListItem>
          );
        }}
      </GridList>
    </section>
  );
}

function readPlace(written: string): Place {
  const [user = '', index] = written.split(' ');
  return { user, index: Number(index) };
}
