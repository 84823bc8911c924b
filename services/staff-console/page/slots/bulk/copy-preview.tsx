import { timestampMs } from '@bufbuild/protobuf/wkt';
import { useId } from 'react';
import type { CopySlotsResponse, SlotCopy } from '#gen/slot/v1/slot_plan_service_pb';
import { formatTime } from '../../business/time.tsx';
import type { Column } from '../../lists/column.ts';
import { ListTable } from '../../lists/list-table.tsx';
import { words } from '../../words.ts';
import { slotsInWords } from '../record/slot-state.tsx';
import { slotTime } from '../record/slot-time.ts';

const text = words.slots;

interface CopyPreviewProps {
  /** What would be made of all slots. */
  readonly whole: CopySlotsResponse | undefined;
  /** What will be made without those that are left out. */
  readonly answer: CopySlotsResponse | undefined;
  /** The slots that are not copied, by their ids. */
  readonly leftOut: ReadonlySet<number>;
  setLeftOut(leftOut: ReadonlySet<number>): void;
}

/** Shows each copy before it is made. A slot whose copies are not wanted is left out by its box. */
export function CopyPreview({ whole, answer, leftOut, setLeftOut }: CopyPreviewProps) {
  const id = useId();
  if (answer === undefined || whole === undefined) return <p className="detail">{text.lookingUp}</p>;
  const copies = whole.copies.toSorted((left, right) => timeOf(left) - timeOf(right));
  const outcomes = new Map(answer.copies.map((copy) => [keyOf(copy), copy]));
  const outcomeOf = (copy: SlotCopy) =>
    leftOut.has(copy.sourceSlotId) ? undefined : (outcomes.get(keyOf(copy)) ?? copy);
  const columns: readonly Column<SlotCopy>[] = [
    { title: text.delivery, text: ({ slot }) => (slot === undefined ? '' : slotTime(slot)), className: 'name' },
    { title: text.ordersClose, text: ({ slot }) => formatTime(slot?.freezeTime), className: 'time' },
    { title: text.capacity, text: ({ slot }) => slot?.capacity?.toLocaleString('en') ?? '', className: 'number' },
    { title: text.outcome, text: (copy) => describeCopy(outcomeOf(copy)) },
  ];
  const ids = new Map(copies.map((copy, index) => [copy, index]));
  const isMade = (index: number) => !leftOut.has(copies[index]?.sourceSlotId ?? 0);
  const choose = (index: number) => {
    const source = copies[index]?.sourceSlotId ?? 0;
    setLeftOut(new Set(isMade(index) ? [...leftOut, source] : [...leftOut].filter((each) => each !== source)));
  };
  const none = () => setLeftOut(new Set(copies.map(({ sourceSlotId }) => sourceSlotId)));
  const made = copies.filter((_, index) => isMade(index));
  const selection = {
    count: made.length,
    has: isMade,
    choose,
    toggleAll: () => (made.length === copies.length ? none() : setLeftOut(new Set())),
  };
  return (
    <>
      <p role="status" id={id}>
        {text.willBeMade(slotsInWords(answer.created), answer.skipped)}
        {answer.snippetsLeftOut > 0 && ` ${text.snippetsNot(answer.snippetsLeftOut)}`}
      </p>
      {copies.length > 0 && (
        <ListTable
          labelledBy={id}
          columns={columns}
          rows={copies}
          keyOf={(copy) => ids.get(copy) ?? 0}
          selection={selection}
        />
      )}
    </>
  );
}

const timeOf = ({ slot }: SlotCopy) => (slot?.deliveryTime === undefined ? 0 : timestampMs(slot.deliveryTime));
const keyOf = (copy: SlotCopy) => `${copy.sourceSlotId} ${timeOf(copy)}`;

/** Says what becomes of a copy; undefined for one that staff have left out. */
function describeCopy(copy: SlotCopy | undefined): string {
  if (copy === undefined) return text.leftOut;
  const { takenBySlotId, isAdjusted, slot } = copy;
  if (takenBySlotId !== undefined) return takenBySlotId === 0 ? text.takenByCopy : text.takenBy(takenBySlotId);
  const closesLate = slot?.freezeTime !== undefined && timestampMs(slot.freezeTime) > timeOf(copy);
  return [text.made, ...(isAdjusted ? [text.clocksChange] : []), ...(closesLate ? [text.closesLate] : [])].join('. ');
}
