import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { useQuery } from '@connectrpc/connect-query';
import { keepPreviousData } from '@tanstack/react-query';
import { useId, useState } from 'react';
import {
  type CopySlotsRequestSchema,
  type CopySlotsResponse,
  type SlotCopy,
  SlotPlanService,
} from '#gen/slot/v1/slot_plan_service_pb';
import { business } from '../../business/business.ts';
import { formatTime } from '../../business/time.tsx';
import { shiftDay } from '../../business/time-input.ts';
import { EditForm } from '../../forms/edit-form.tsx';
import { TextField } from '../../forms/text-field.tsx';
import { type Column, textColumn } from '../../lists/column.tsx';
import { ListTable } from '../../lists/list-table.tsx';
import { describeFailure } from '../../rpc/failure.ts';
import type { Undone } from '../../rpc/notices.ts';
import { useWrite } from '../../rpc/write.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Problem } from '../../ui/page.tsx';
import { useDebounced } from '../../ui/pauses.tsx';
import { words } from '../../words.ts';
import { slotsInWords, slotTime } from '../record/slot-state.tsx';
import { TakenNames } from '../snippets/taken-names.tsx';
import { daysBetween, deliveryMs, lateConcerns } from './move.ts';

const text = words.slots;
const { copySlots, updateSlots } = SlotPlanService.method;
type Request = MessageInitShape<typeof CopySlotsRequestSchema>;
/** The most slots that UpdateSlots takes. */
const mostUpdated = 500;

interface CopyDialogProps {
  /** Such as "this week" or "3 slots". */
  readonly what: string;
  /** The slots, or the interval that they are delivered in. */
  readonly source: Pick<Request, 'slotIds' | 'deliveryFrom' | 'deliveryUntil'>;
  /** The first day of what is copied, such as 2026-11-23. */
  readonly day: string;
  readonly now: number;
  onCopied?(firstDay: string): void;
  onClose(): void;
}

/** Copies slots to later days. Shows beforehand what will be made and what is taken, and lets slots be left out. */
export function CopyDialog({ what, source, day, now, onCopied, onClose }: CopyDialogProps) {
  const [entered, setEntered] = useState({ to: shiftDay(day, 7), repeat: '1', snippetName: '' });
  const [leftOut, setLeftOut] = useState<ReadonlySet<number>>(new Set());
  const settled = useDebounced(entered);
  const { to, repeat, snippetName } = settled;
  const shiftDays = daysBetween(day, to);
  const all = { ...source, shiftDays, repeat: Number(repeat), snippetName, timeZone: business.timeZone };
  const isValid = isShift(shiftDays) && isRepeat(repeat);
  // With all slots, in case that those without some fail. Their names are not looked at.
  const { data: whole } = usePreview({ ...all, snippetName: '' }, isValid);
  const kept = [...new Set(whole?.copies.map(({ sourceSlotId }) => sourceSlotId))].filter((id) => !leftOut.has(id));
  const request = leftOut.size === 0 ? all : { ...all, deliveryFrom: '', deliveryUntil: '', slotIds: kept };
  const preview = usePreview(request, isValid && (leftOut.size === 0 || kept.length > 0));
  const deactivation = useWrite(updateSlots, ({ changed }) => ({ text: text.deactivatedAgain(slotsInWords(changed)) }));
  /** Undoes a copy: slots can't be deleted, so they are deactivated. */
  const undo = async ({ copies }: CopySlotsResponse) => {
    const made = copies.filter(isMade).map(({ slot }) => ({ id: slot?.id ?? 0, etag: slot?.etag ?? '' }));
    let undone: Undone = {};
    for (let from = 0; from < made.length && undone.failure === undefined; from += mostUpdated) {
      const slots = made.slice(from, from + mostUpdated);
      undone = await deactivation.send({ slots, change: { case: 'isActive', value: false } });
    }
    return undone;
  };
  const write = useWrite(copySlots, (answer) => ({
    text: text.copied(slotsInWords(answer.created), answer.skipped),
    undo: () => undo(answer),
  }));
  const send = async () => {
    const { answer } = await write.send(request);
    if (answer === undefined) return;
    onCopied?.(to);
    onClose();
  };
  const failure = preview.error === null ? undefined : describeFailure(preview.error);
  const isNameTaken = (write.failure ?? failure)?.reason === 'SNIPPET_NAME_TAKEN';
  const created = preview.data?.created ?? 0;
  const field = (name: keyof typeof entered) => ({
    value: entered[name],
    onChange: (value: string) => setEntered({ ...entered, [name]: value }),
  });
  return (
    <Dialog title={text.copyTitle(what)} isOpen onClose={onClose}>
      <EditForm
        action={created === 0 ? text.copy : text.make(slotsInWords(created))}
        pending={text.copying}
        write={write}
        concerns={concernsOf(preview.data?.copies ?? [], snippetName, now)}
        isChecking={entered !== settled || preview.isPending || preview.isFetching}
        onSend={() => void send()}
        onCancel={onClose}
      >
        <div className="row">
          <TextField
            label={text.copyFrom(weekdayOf(day))}
            name="shiftDays"
            type="date"
            {...field('to')}
            validate={(typed) => (isShift(daysBetween(day, typed)) ? null : text.noLaterDay)}
            autoFocus
          />
          <TextField
            label={text.times}
            hint={text.timesHint}
            name="repeat"
            inputMode="numeric"
            {...field('repeat')}
            validate={(typed) => (isRepeat(typed) ? null : text.noTimes)}
          />
          <TextField
            label={text.snippetNames}
            hint={text.snippetNamesHint}
            name="snippetName"
            placeholder="{name} {date}"
            {...field('snippetName')}
            maxLength={128}
          />
        </div>
        <p className="detail">{text.copiesAre}</p>
        {failure === undefined ? (
          <CopyPreview {...{ whole, leftOut, setLeftOut }} answer={preview.data} />
        ) : (
          write.failure === undefined && <Problem failure={failure} onRetry={() => void preview.refetch()} />
        )}
        {isNameTaken && whole !== undefined && <TakenNames copies={whole.copies} />}
      </EditForm>
    </Dialog>
  );
}

const isShift = (days: number) => days >= 1 && days <= 366;
const isRepeat = (typed: string) => /^\s*([1-9]|[1-4]\d|5[0-2])\s*$/.test(typed);
const isMade = ({ takenBySlotId }: SlotCopy) => takenBySlotId === undefined;
const weekdayOf = (day: string) =>
  new Date(`${day}T12:00Z`).toLocaleDateString('en-GB', { weekday: 'long', timeZone: 'UTC' });

/** Reads what a copy would do. */
const usePreview = (request: Request, enabled: boolean) =>
  useQuery(copySlots, { ...request, dryRun: true }, { enabled, placeholderData: keepPreviousData });

/** Says what looks like a mistake in a copy, at a time in Unix ms. */
function concernsOf(copies: readonly SlotCopy[], snippetName: string, now: number): string[] {
  const made = copies.filter(isMade).map(({ slot }) => slot);
  const [odd] = snippetName.replaceAll(/\{(name|date)\}/g, '').match(/\{[^{}]*\}?/) ?? [];
  return [...lateConcerns(made, now), ...(odd === undefined ? [] : [text.oddName(odd)])];
}

interface CopyPreviewProps {
  /** What would be made of all slots, and what will be made without those that are left out. */
  readonly whole: CopySlotsResponse | undefined;
  readonly answer: CopySlotsResponse | undefined;
  /** The slots that are not copied, by their ids. */
  readonly leftOut: ReadonlySet<number>;
  setLeftOut(leftOut: ReadonlySet<number>): void;
}

/** Shows each copy before it is made. A slot whose copies are not wanted is left out by its box. */
function CopyPreview({ whole, answer, leftOut, setLeftOut }: CopyPreviewProps) {
  const id = useId();
  if (answer === undefined || whole === undefined) return <p className="detail">{text.lookingUp}</p>;
  const copies = whole.copies.toSorted((a, b) => deliveryMs(a.slot) - deliveryMs(b.slot));
  const outcomes = new Map(answer.copies.map((copy) => [keyOf(copy), copy]));
  const describe = (copy: SlotCopy) =>
    leftOut.has(copy.sourceSlotId) ? text.leftOut : describeCopy(outcomes.get(keyOf(copy)) ?? copy);
  const columns: readonly Column<SlotCopy>[] = [
    textColumn(words.fields.deliveryTime, ({ slot }) => (slot ? slotTime(slot) : ''), { className: 'name' }),
    { title: words.fields.freezeTime, text: ({ slot }) => formatTime(slot?.freezeTime), className: 'time' },
    textColumn(words.fields.capacity, ({ slot }) => slot?.capacity?.toLocaleString('en') ?? '', {
      className: 'number',
    }),
    { title: text.outcome, text: describe },
  ];
  const sources = copies.map(({ sourceSlotId }) => sourceSlotId);
  const has = (index: number) => !leftOut.has(sources[index] ?? 0);
  const choose = (index: number) => {
    const source = sources[index] ?? 0;
    setLeftOut(new Set(has(index) ? [...leftOut, source] : [...leftOut].filter((each) => each !== source)));
  };
  const count = sources.filter((source) => !leftOut.has(source)).length;
  const toggleAll = () => setLeftOut(new Set(count === copies.length ? sources : []));
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
          keyOf={(copy) => copies.indexOf(copy)}
          selection={{ count, has, choose, toggleAll }}
        />
      )}
    </>
  );
}

const keyOf = ({ sourceSlotId, slot }: SlotCopy) => `${sourceSlotId} ${deliveryMs(slot)}`;

/** Says what becomes of a copy. */
function describeCopy({ takenBySlotId, isAdjusted, slot }: SlotCopy): string {
  if (takenBySlotId !== undefined) return takenBySlotId === 0 ? text.takenByCopy : text.takenBy(takenBySlotId);
  const closesLate = slot?.freezeTime !== undefined && timestampMs(slot.freezeTime) > deliveryMs(slot);
  return [text.made, isAdjusted && text.clocksChange, closesLate && text.closesLate].filter(Boolean).join('. ');
}
