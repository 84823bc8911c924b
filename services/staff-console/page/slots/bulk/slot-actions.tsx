import { timestampDate } from '@bufbuild/protobuf/wkt';
import { useState } from 'react';
import type { PlannedSlot } from '#gen/slot/v1/slot_plan_service_pb';
import { dateInput } from '../../business/time-input.ts';
import { Button } from '../../ui/button.tsx';
import { words } from '../../words.ts';
import { FlagButton } from '../record/flag-button.tsx';
import { slotsInWords } from '../record/slot-state.tsx';
import { CapacityDialog } from './capacity-dialog.tsx';
import { CopyDialog } from './copy-dialog.tsx';

const text = words.slots;

interface SlotActionsProps {
  readonly slots: readonly PlannedSlot[];
  /** In Unix ms. */
  readonly now: number;
  onMove(): void;
}

/** What can be done with the slots that are selected. */
export function SlotActions({ slots, now, onMove }: SlotActionsProps) {
  const [isCapacity, setIsCapacity] = useState(false);
  return (
    <>
      <FlagButton {...{ slots, ...text.full }} flag="isCapacityFull" value />
      <FlagButton {...{ slots, ...text.open }} flag="isCapacityFull" value={false} />
      <Button onPress={() => setIsCapacity(true)}>{text.capacityOf}</Button>
      <PlanButtons {...{ slots, now, onMove }} />
      <FlagButton {...{ slots, ...text.off }} flag="isActive" value={false} />
      <FlagButton {...{ slots, ...text.on }} flag="isActive" value />
      {isCapacity && <CapacityDialog slots={slots} onClose={() => setIsCapacity(false)} />}
    </>
  );
}

/** Moves slots to another time, or copies them. */
export function PlanButtons({ slots, now, onMove }: SlotActionsProps) {
  const [isCopy, setIsCopy] = useState(false);
  const [first] = slots;
  return (
    <>
      <Button onPress={onMove}>{text.moveTo}</Button>
      <Button onPress={() => setIsCopy(true)}>{text.copyTo}</Button>
      {isCopy && first?.deliveryTime !== undefined && (
        <CopyDialog
          now={now}
          what={slotsInWords(slots.length)}
          source={{ slotIds: slots.map(({ id }) => id) }}
          day={dateInput(timestampDate(first.deliveryTime))}
          onClose={() => setIsCopy(false)}
          onCopied={() => setIsCopy(false)}
        />
      )}
    </>
  );
}
