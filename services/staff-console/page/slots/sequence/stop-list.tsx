import { type ReactNode, useState } from 'react';
import { GridList, GridListItem } from 'react-aria-components/GridList';
import { useDragAndDrop } from 'react-aria-components/useDragAndDrop';
import { TextField } from '../../forms/text-field.tsx';
import { Button } from '../../ui/button.tsx';
import { move } from './sequence.ts';

interface StopListProps {
  readonly name: string;
  readonly stops: readonly number[];
  onChange(stops: readonly number[]): void;
}

/** Lists a user's stops in order. Staff drag them by mouse, touch or keyboard, or move them with buttons. */
export function StopList({ name, stops, onChange }: StopListProps): ReactNode {
  const [added, setAdded] = useState('');
  const items = withKeys(stops);
  const positionOf = (key: string | number) => items.findIndex(({ id }) => id === key);
  const { dragAndDropHooks } = useDragAndDrop({
    getItems: (keys) => [...keys].map((key) => ({ 'text/plain': String(key) })),
    onReorder: ({ keys, target }) => {
      if (target.dropPosition === 'on') return;
      onChange(move(stops, new Set([...keys].map(positionOf)), positionOf(target.key), target.dropPosition));
    },
  });
  const add = () => {
    if (/^-?\d{1,10}$/.test(added)) onChange([...stops, Number(added)]);
    setAdded('');
  };
  return (
    <section aria-label={name}>
      <h3>{name}</h3>
      <GridList
        aria-label={`Stops of ${name}`}
        items={items}
        dragAndDropHooks={dragAndDropHooks}
        className="stops"
        renderEmptyState={() => 'No stops yet.'}
      >
        {({ id, stop, position }) => (
          <GridListItem id={id} textValue={`Stop ${stop}`} className="stop">
            <Button slot="drag" emphasis="quiet" aria-label={`Drag stop ${stop}`}>
              ≡
            </Button>
            <span>{stop}</span>
            <Button
              emphasis="quiet"
              aria-label={`Move stop ${stop} up`}
              isDisabled={position === 0}
              onPress={() => onChange(move(stops, new Set([position]), position - 1, 'before'))}
            >
              ↑
            </Button>
            <Button
              emphasis="quiet"
              aria-label={`Move stop ${stop} down`}
              isDisabled={position === stops.length - 1}
              onPress={() => onChange(move(stops, new Set([position]), position + 1, 'after'))}
            >
              ↓
            </Button>
            <Button
              emphasis="quiet"
              aria-label={`Remove stop ${stop}`}
              onPress={() => onChange(stops.filter((_, index) => index !== position))}
            >
              ✕
            </Button>
          </GridListItem>
        )}
      </GridList>
      <div className="go-to">
        <TextField
          label={`Add a stop for ${name}`}
          inputMode="numeric"
          value={added}
          onChange={setAdded}
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return;
            // Enter adds a stop, and must not submit the form.
            event.preventDefault();
            add();
          }}
        />
        <Button onPress={add}>Add</Button>
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
