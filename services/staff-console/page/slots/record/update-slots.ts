import type { MessageInitShape } from '@bufbuild/protobuf';
import { useRef } from 'react';
import { type PlannedSlot, SlotPlanService, type SlotVersion } from '#gen/slot/v1/slot_plan_service_pb';
import { notify, type Undone } from '../../rpc/notices.ts';
import { useWrite } from '../../rpc/write.ts';
import { useWriteEach } from '../../rpc/write-each.ts';
import { words } from '../../words.ts';
import { slotsInWords } from './slot-state.tsx';

const { updateSlots } = SlotPlanService.method;
type Change = NonNullable<MessageInitShape<typeof updateSlots.input>['change']>;

/**
 * Lets a component change slots, all or none, which can be undone. A notice says what was done, and reports a failure.
 *
 * @param done what was done, and what when it is undone, behind "3 slots".
 */
export function useUpdateSlots(done: string, undone: string) {
  const writeEach = useWriteEach(updateSlots);
  const before = useRef(new Map<string, { readonly change: Change; readonly ids: Set<number> }>());
  const undo = async (saved: readonly SlotVersion[], groups: typeof before.current): Promise<Undone> => {
    const requests = [...groups.values()].map(({ change, ids }) => ({
      slots: saved.filter(({ id }) => ids.has(id)),
      change,
    }));
    const { answers, failure } = await writeEach(requests);
    const count = answers.reduce((sum, { changed }) => sum + changed, 0);
    if (count > 0) notify({ text: `${slotsInWords(count)} ${undone}`, about: words.slots.selected });
    return { failure };
  };
  const write = useWrite(
    updateSlots,
    ({ slots: saved, changed }) => {
      const groups = before.current;
      return { text: `${slotsInWords(changed)} ${done}`, undo: () => undo(saved, groups) };
    },
    words.slots.selected,
  );
  /** @param was returns the change that takes a slot back to how it is. */
  const send = (slots: readonly PlannedSlot[], change: Change, was: (slot: PlannedSlot) => Change) => {
    before.current = new Map();
    for (const slot of slots) {
      const back = was(slot);
      const group = before.current.get(String(back.value)) ?? { change: back, ids: new Set() };
      group.ids.add(slot.id);
      before.current.set(String(back.value), group);
    }
    return write.send({ slots: slots.map(({ id, etag }) => ({ id, etag })), change });
  };
  return { write, send };
}
