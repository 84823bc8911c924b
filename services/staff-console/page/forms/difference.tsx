import { words } from '../words.ts';

/** The ids that a new choice adds, and those that it removes. */
export interface Difference {
  readonly added: readonly number[];
  readonly removed: readonly number[];
}

/** Compares two sets of ids. */
export function difference(before: readonly number[], after: readonly number[]): Difference {
  const [had, has] = [new Set(before), new Set(after)];
  return { added: after.filter((id) => !had.has(id)), removed: before.filter((id) => !has.has(id)) };
}

// Nobody reads more names than this.
const namedMost = 20;

interface DifferenceProps extends Difference {
  readonly nameOf: (id: number) => string;
}

/** Shows the changes before they are saved. */
export function DifferenceView({ added, removed, nameOf }: DifferenceProps) {
  const names = (ids: readonly number[]) => {
    const rest = ids.length - namedMost;
    return ids.slice(0, namedMost).map(nameOf).join(', ') + (rest > 0 ? ` ${words.forms.andMore(rest)}` : '');
  };
  return (
    <div className="difference" role="status">
      {added.length + removed.length === 0 && <p>{words.forms.noChanges}</p>}
      {added.length > 0 && (
        <p>
          <strong>{words.forms.added(added.length)}</strong> {names(added)}
        </p>
      )}
      {removed.length > 0 && (
        <p>
          <strong>{words.forms.removed(removed.length)}</strong> {names(removed)}
        </p>
      )}
    </div>
  );
}
