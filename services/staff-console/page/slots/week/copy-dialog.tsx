import { create, type MessageInitShape, toJsonString } from '@bufbuild/protobuf';
import { timestampDate, timestampMs } from '@bufbuild/protobuf/wkt';
import { useTransport } from '@connectrpc/connect-query';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type ReactNode, useId, useState } from 'react';
import {
  type CopySlotsRequestSchema,
  type CopySlotsResponse,
  type SlotCopy,
  SlotPlanService,
} from '../../../../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { business } from '../../business/business.ts';
import { formatDay, formatTime, formatTimeOfDay, Time } from '../../business/time.tsx';
import { readDay, shiftDay } from '../../business/time-input.ts';
import { EditForm } from '../../forms/edit-form.tsx';
import { TextField } from '../../forms/text-field.tsx';
import type { Column } from '../../lists/column.ts';
import { ListTable } from '../../lists/list-table.tsx';
import { describeFailure } from '../../rpc/failure.ts';
import type { Undone } from '../../rpc/notices.ts';
import { useWrite } from '../../rpc/write.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Problem } from '../../ui/page.tsx';
import { useDebounced } from '../../ui/use-debounced.ts';
import { slotsInWords } from '../record/slot-state.tsx';
import { TakenNames } from '../snippets/taken-names.tsx';

const { copySlots, updateSlots } = SlotPlanService.method;
type Request = MessageInitShape<typeof CopySlotsRequestSchema>;

interface CopyDialogProps {
  /** Such as "this week" or "3 slots". */
  readonly what: string;
  /** The slots, or the interval that they are delivered in. */
  readonly source: Pick<Request, 'slotIds' | 'deliveryFrom' | 'deliveryUntil'>;
  /** The first day of what is copied, such as 2026-11-23. */
  readonly day: string;
  /** In Unix ms. */
  readonly now: number;
  /** Called with the first day of the copies. */
  onCopied(day: string): void;
  onClose(): void;
}

/** Copies slots to later days. Shows beforehand what will be made and what is taken. */
export function CopyDialog({ what, source, day, now, onCopied, onClose }: CopyDialogProps): ReactNode {
  const [to, setTo] = useState(shiftDay(day, 7));
  const [repeat, setRepeat] = useState('1');
  const [snippetName, setSnippetName] = useState('');
  const shiftDays = daysBetween(day, to);
  const request = { ...source, shiftDays, repeat: Number(repeat), snippetName, timeZone: business.timeZone };
  const deactivation = useWrite(updateSlots, ({ changed }) => ({ text: `${slotsInWords(changed)} deactivated again` }));
  const write = useWrite(copySlots, (answer) => ({
    text: `Copied: ${slotsInWords(answer.created)} made${answer.skipped > 0 ? `, ${answer.skipped} left out` : ''}`,
    undo: (): Promise<Undone> => deactivateCopies(answer, deactivation.send),
  }));
  const preview = usePreview(request);
  const failure = write.failure ?? (preview.error === null ? undefined : describeFailure(preview.error));
  const hasTakenNames = failure?.reason === 'SNIPPET_NAME_TAKEN';
  const unnamed = usePreview({ ...request, snippetName: '' }, hasTakenNames);
  const isReady = preview.data !== undefined && !preview.isFetching;
  const send = async () => {
    const { answer } = await write.send(request);
    if (answer !== undefined) onCopied(to);
  };
  return (
    <Dialog title={`Copy ${what}`} isOpen onClose={onClose}>
      <EditForm
        className="copy-form"
        action={
          preview.data === undefined || preview.data.created === 0
            ? 'Copy'
            : `Make ${slotsInWords(preview.data.created)}`
        }
        pending="Copying…"
        write={write}
        places={{ shift_days: 'to', snippet_name: 'snippetName', repeat: 'repeat' }}
        concerns={concernsOf(preview.data, snippetName, now)}
        isChecking={!isReady && preview.error === null}
        onSend={() => void send()}
        onCancel={onClose}
      >
        <div className="row">
          <TextField
            label={`To the days from ${weekdayHint(day)}`}
            name="to"
            type="date"
            value={to}
            onChange={setTo}
            validate={() => (shiftDays >= 1 && shiftDays <= 366 ? null : 'Choose a later day, within a year.')}
            autoFocus
          />
          <TextField
            label="How often"
            hint="Each copy is as many days after the one before."
            name="repeat"
            inputMode="numeric"
            value={repeat}
            onChange={setRepeat}
            validate={(text) => (/^([1-9]|[1-4]\d|5[0-2])$/.test(text.trim()) ? null : 'Enter 1 to 52.')}
          />
          <TextField
            label="Names of the copied snippets"
            hint="{name} is the snippet’s name, {date} the day of the copy. Empty: no snippets."
            name="snippetName"
            placeholder="{name} {date}"
            value={snippetName}
            onChange={setSnippetName}
            maxLength={128}
          />
        </div>
        <p className="detail">Copies are open and active, and have no delivery sequence yet.</p>
        {preview.error === null ? (
          <Preview answer={preview.data} />
        ) : (
          write.failure === undefined && (
            <Problem failure={describeFailure(preview.error)} onRetry={() => void preview.refetch()} />
          )
        )}
        {hasTakenNames && unnamed.data !== undefined && <TakenNames copies={unnamed.data.copies} />}
      </EditForm>
    </Dialog>
  );
}

/** Says what looks like a mistake in a copy, at a time in Unix ms. */
function concernsOf(preview: CopySlotsResponse | undefined, snippetName: string, now: number): string[] {
  const made = preview?.copies.filter(({ takenBySlotId }) => takenBySlotId === undefined) ?? [];
  const late = made.filter(({ slot }) => slot?.deliveryTime !== undefined && timestampMs(slot.deliveryTime) < now);
  const odd = snippetName
    .replaceAll('{name}', '')
    .replaceAll('{date}', '')
    .match(/\{[^{}]*\}?/);
  return [
    ...(late.length === 0 ? [] : [`${slotsInWords(late.length)} would be delivered in the past.`]),
    ...(odd === null ? [] : [`${odd[0]} is neither {name} nor {date}, and stays in the names as it is.`]),
  ];
}

const weekdayHint = (day: string) =>
  new Date(`${day}T12:00Z`).toLocaleDateString('en-GB', { weekday: 'long', timeZone: 'UTC' });

function daysBetween(from: string, to: string): number {
  return readDay(to) === undefined ? 0 : Math.round((Date.parse(to) - Date.parse(from)) / 86_400_000);
}

/** Reads what a copy would do. */
function usePreview(request: Request, isWanted = true) {
  const transport = useTransport();
  const text = useDebounced(toJsonString(copySlots.input, create(copySlots.input, request)));
  const { shiftDays = 0, repeat = 0 } = request;
  return useQuery({
    queryKey: ['copy preview', text],
    queryFn: async ({ signal }) => {
      const asked = { ...request, dryRun: true };
      return (await transport.unary(copySlots, signal, undefined, undefined, asked, undefined)).message;
    },
    enabled: isWanted && shiftDays >= 1 && shiftDays <= 366 && repeat >= 1 && repeat <= 52,
    placeholderData: keepPreviousData,
  });
}

function Preview({ answer }: { readonly answer: CopySlotsResponse | undefined }): ReactNode {
  const id = useId();
  if (answer === undefined) return <p className="detail">Looking up what will be made…</p>;
  const { copies, created, skipped, snippetsLeftOut } = answer;
  return (
    <>
      <p role="status" id={id}>
        {slotsInWords(created)} will be made{skipped > 0 && `, ${skipped} left out because the time is taken`}.
        {snippetsLeftOut > 0 &&
          ` ${snippetsLeftOut} ${snippetsLeftOut === 1 ? 'snippet is' : 'snippets are'} not taken along.`}
      </p>
      {copies.length > 0 && <ListTable labelledBy={id} columns={columns} rows={byTime(copies)} keyOf={keyOf} />}
    </>
  );
}

const timeOf = ({ slot }: SlotCopy) => (slot?.deliveryTime === undefined ? 0 : timestampMs(slot.deliveryTime));
const byTime = (copies: readonly SlotCopy[]) => copies.toSorted((left, right) => timeOf(left) - timeOf(right));
const keyOf = ({ sourceSlotId, slot }: SlotCopy) => `${sourceSlotId} ${formatTime(slot?.deliveryTime)}`;

const columns: readonly Column<SlotCopy>[] = [
  {
    title: 'Delivery',
    text: ({ slot }) =>
      slot?.deliveryTime === undefined
        ? ''
        : `${formatDay(timestampDate(slot.deliveryTime))}, ${formatTimeOfDay(timestampDate(slot.deliveryTime))}`,
    className: 'name',
  },
  {
    title: 'Orders close',
    show: ({ slot }) => <Time at={slot?.freezeTime} />,
    text: ({ slot }) => formatTime(slot?.freezeTime),
    className: 'time',
  },
  { title: 'Like', text: ({ sourceSlotId }) => `Slot ${sourceSlotId}`, className: 'name' },
  { title: 'What happens', text: describeCopy },
];

function describeCopy({ takenBySlotId, isAdjusted }: SlotCopy): string {
  if (takenBySlotId === 0) return 'Left out: another copy takes this time';
  if (takenBySlotId !== undefined) return `Left out: slot ${takenBySlotId} takes this time`;
  return isAdjusted ? 'Will be made. The clocks change: check its times' : 'Will be made';
}

/** Undoes a copy: slots can't be deleted, so they are deactivated. */
async function deactivateCopies(
  { copies }: CopySlotsResponse,
  send: (request: MessageInitShape<typeof updateSlots.input>) => Promise<Undone>,
): Promise<Undone> {
  const made = copies.flatMap(({ slot }) =>
    slot !== undefined && slot.id > 0 ? [{ id: slot.id, etag: slot.etag }] : [],
  );
  for (let from = 0; from < made.length; from += mostUpdated) {
    const undone = await send({
      slots: made.slice(from, from + mostUpdated),
      change: { case: 'isActive', value: false },
    });
    if (undone.failure !== undefined) return undone;
  }
  return {};
}

/** The most slots that UpdateSlots takes. */
const mostUpdated = 500;
