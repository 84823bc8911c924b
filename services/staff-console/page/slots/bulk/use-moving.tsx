import { type ReactNode, Suspense, useCallback, useState } from 'react';
import { late } from '../../ui/pauses.ts';
import { type Moved, type Shift, useMove } from './move.ts';

// Fetched when it is first needed.
const MoveDialog = late(async () => (await import('./on-demand.ts')).MoveDialog);

/** What moves slots on a page. */
interface Moving {
  move(slots: readonly Moved[], by: Shift, isSure?: boolean): void;
  /** Asks where to. */
  ask(slots: readonly Moved[]): void;
  readonly dialog: ReactNode;
}

/**
 * Lets a page move slots at once, or to where staff say.
 *
 * @param now in Unix ms.
 * @param onLeft called with the slots that were not moved, if there are any.
 */
export function useMoving(now: number, onLeft: (ids: readonly number[]) => void): Moving {
  const [asked, setAsked] = useState<{ readonly slots: readonly Moved[]; readonly by: Shift }>();
  const send = useMove((slots, by) => setAsked({ slots, by }));
  const move: Moving['move'] = (...moved) =>
    void send(...moved).then((left) => {
      if (left.length > 0) onLeft(left);
    });
  const ask = useCallback((slots: readonly Moved[]) => setAsked({ slots, by: { days: 0, minutes: 0 } }), []);
  const dialog = asked !== undefined && (
    <Suspense>
      <MoveDialog
        slots={asked.slots}
        start={asked.by}
        now={now}
        onClose={() => setAsked(undefined)}
        onMove={(by) => {
          setAsked(undefined);
          move(asked.slots, by, true);
        }}
      />
    </Suspense>
  );
  return { move, ask, dialog };
}
