import { words } from '../words.ts';

/** Compares two sets of ids: those that the new one adds, and those that it removes. */
export function difference(before: readonly number[], after: readonly number[]) {
  const [had, has] = [new Set(before), new Set(after)];
  return { added: after.filter((id) => !had.has(id)), removed: before.filter((id) => !has.has(id)) };
}

// Nobody reads more names than this.
const namedMost = 20;

/** Shows the changes before they are saved. */
export function DifferenceView(props: ReturnType<typeof difference> & { nameOf(id: number): string }) {
  const { added, removed, nameOf } = props;
  const text = words.forms;
  const changes = [[text.added(added.length), added] as const, [text.removed(removed.length), removed] as const];
  return (
    <div className="difference" role="status">
      {added.length + removed.length === 0 && <p>{text.noChanges}</p>}
      {changes.map(
        ([what, ids]) =>
          ids.length > 0 && (
            <p key={what}>
              <strong>{what}</strong> {ids.slice(0, namedMost).map(nameOf).join(', ')}
              {ids.length > namedMost && ` ${text.andMore(ids.length - namedMost)}`}
            </p>
          ),
      )}
    </div>
  );
}
