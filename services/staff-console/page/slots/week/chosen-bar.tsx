import { type ReactNode, useState } from 'react';
import { type PlannedSlot, SlotPlanService } from '../../../../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import type { Undone } from '../../rpc/notices.ts';
import { useWrite } from '../../rpc/write.ts';
import { Button } from '../../ui/button.tsx';
import { slotsInWords } from '../record/slot-state.tsx';
import type { Shift } from './move.ts';
import { MoveDialog } from './move-dialog.tsx';

interface ChosenBarProps {
  /** The slots that are chosen. */
  readonly slots: readonly PlannedSlot[];
  readonly isMoving: boolean;
  onMove(slots: readonly PlannedSlot[], by: Shift): void;
  onCopy(): void;
  onClear(): void;
}

/** What can be done with the slots that are chosen. */
export function ChosenBar({ slots, isMoving, onMove, onCopy, onClear }: ChosenBarProps): ReactNode {
  const [asksWhere, setAsksWhere] = useState(false);
  return (
    <div className="chosen-bar" role="toolbar" aria-label="The chosen slots">
      <strong role="status">{slotsInWords(slots.length)} chosen</strong>
      <div className="actions">
        <FlagButton slots={slots} flag="isCapacityFull" value text="Mark full" done="marked full" />
        <FlagButton slots={slots} flag="isCapacityFull" value={false} text="Open" done="opened" />
        <FlagButton slots={slots} flag="isActive" value={false} text="Deactivate" done="deactivated" />
        <FlagButton slots={slots} flag="isActive" value text="Activate" done="activated" />
        <Button isPending={isMoving} onPress={() => setAsksWhere(true)}>
          Move…
        </Button>
        <Button onPress={onCopy}>Copy…</Button>
        <Button emphasis="quiet" onPress={onClear}>
          Choose none
        </Button>
      </div>
      {asksWhere && (
        <MoveDialog
          count={slots.length}
          onClose={() => setAsksWhere(false)}
          onMove={(by) => {
            setAsksWhere(false);
            onMove(slots, by);
          }}
        />
      )}
    </div>
  );
}

interface FlagButtonProps {
  readonly slots: readonly PlannedSlot[];
  readonly flag: 'isCapacityFull' | 'isActive';
  readonly value: boolean;
  readonly text: string;
  /** What was done, in the notice. */
  readonly done: string;
}

/** Sets a flag of those slots that do not have it, all or none, which can be undone. */
function FlagButton({ slots, flag, value, text, done }: FlagButtonProps): ReactNode {
  const write = useWrite(
    SlotPlanService.method.updateSlots,
    ({ slots: saved, changed }) => ({
      text: `${slotsInWords(changed)} ${done}`,
      undo: (): Promise<Undone> => write.send({ slots: saved, change: { case: flag, value: !value } }),
    }),
    'The chosen slots',
  );
  const others = slots.filter((slot) => slot[flag] !== value);
  if (others.length === 0) return null;
  const versions = others.map(({ id, etag }) => ({ id, etag }));
  return (
    <Button
      isPending={write.isPending}
      onPress={() => void write.send({ slots: versions, change: { case: flag, value } })}
    >
      {text}
    </Button>
  );
}
