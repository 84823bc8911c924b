import type { ReactNode } from 'react';
import type { PlannedSlot } from '../../../../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { Button } from '../../ui/button.tsx';
import { FlagButton } from '../record/flag-button.tsx';
import { slotsInWords } from '../record/slot-state.tsx';

interface ChosenBarProps {
  /** The slots that are chosen. */
  readonly slots: readonly PlannedSlot[];
  onMove(): void;
  onCopy(): void;
  onClear(): void;
}

/** What can be done with the slots that are chosen. */
export function ChosenBar({ slots, onMove, onCopy, onClear }: ChosenBarProps): ReactNode {
  return (
    <div className="chosen-bar" role="toolbar" aria-label="The chosen slots" tabIndex={-1}>
      <strong role="status">{slotsInWords(slots.length)} chosen</strong>
      <div className="actions">
        <FlagButton
          {...{ slots }}
          flag="isCapacityFull"
          value
          text="Mark full"
          done="marked full"
          undone="opened again"
        />
        <FlagButton
          {...{ slots }}
          flag="isCapacityFull"
          value={false}
          text="Open again"
          done="opened again"
          undone="marked full again"
        />
        <FlagButton
          {...{ slots }}
          flag="isActive"
          value={false}
          text="Deactivate"
          done="deactivated"
          undone="activated again"
        />
        <FlagButton
          {...{ slots }}
          flag="isActive"
          value
          text="Activate again"
          done="activated again"
          undone="deactivated again"
        />
        <Button onPress={onMove}>Move…</Button>
        <Button onPress={onCopy}>Copy…</Button>
        <Button emphasis="quiet" onPress={onClear}>
          Choose none
        </Button>
      </div>
    </div>
  );
}
