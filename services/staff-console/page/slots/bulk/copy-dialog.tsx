import { create, type MessageInitShape, toJsonString } from '@bufbuild/protobuf';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { useTransport } from '@connectrpc/connect-query';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import {
  type CopySlotsRequestSchema,
  type CopySlotsResponse,
  SlotPlanService,
} from '#gen/slot/v1/slot_plan_service_pb';
import { business } from '../../business/business.ts';
import { readDay, shiftDay } from '../../business/time-input.ts';
import { EditForm } from '../../forms/edit-form.tsx';
import { TextField } from '../../forms/text-field.tsx';
import { describeFailure } from '../../rpc/failure.ts';
import type { Undone } from '../../rpc/notices.ts';
import { useWrite } from '../../rpc/write.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Problem } from '../../ui/page.tsx';
import { useDebounced } from '../../ui/pauses.ts';
import { words } from '../../words.ts';
import { slotsInWords } from '../record/slot-state.tsx';
import { TakenNames } from '../snippets/taken-names.tsx';
import { CopyPreview } from './copy-preview.tsx';

const text = words.slots;
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

/** Copies slots to later days. Shows beforehand what will be made and what is taken, and lets slots be left out. */
export function CopyDialog({ what, source, day, now, onCopied, onClose }: CopyDialogProps) {
  const [to, setTo] = useState(shiftDay(day, 7));
  const [repeat, setRepeat] = useState('1');
  const [snippetName, setSnippetName] = useState('');
  const [leftOut, setLeftOut] = useState<ReadonlySet<number>>(new Set());
  const shiftDays = daysBetween(day, to);
  const all = { ...source, shiftDays, repeat: Number(repeat), snippetName, timeZone: business.timeZone };
  // With all slots, in case that those without some fail. Their names are not looked at.
  const whole = usePreview({ ...all, snippetName: '' });
  const kept = [...new Set(whole.data?.copies.map(({ sourceSlotId }) => sourceSlotId))].filter(
    (id) => !leftOut.has(id),
  );
  const request = leftOut.size === 0 ? all : { ...all, deliveryFrom: '', deliveryUntil: '', slotIds: kept };
  const deactivation = useWrite(updateSlots, ({ changed }) => ({ text: text.deactivatedAgain(slotsInWords(changed)) }));
  const write = useWrite(copySlots, (answer) => ({
    text: text.copied(slotsInWords(answer.created), answer.skipped),
    undo: (): Promise<Undone> => deactivateCopies(answer, deactivation.send),
  }));
  const preview = usePreview(request, kept.length > 0 || leftOut.size === 0);
  const failure = write.failure ?? (preview.error === null ? undefined : describeFailure(preview.error));
  const hasTakenNames = failure?.reason === 'SNIPPET_NAME_TAKEN';
  const isReady = preview.data !== undefined && !preview.isFetching;
  const send = async () => {
    const { answer } = await write.send(request);
    if (answer !== undefined) onCopied(to);
  };
  return (
    <Dialog title={text.copyTitle(what)} isOpen onClose={onClose}>
      <EditForm
        action={
          preview.data === undefined || preview.data.created === 0
            ? text.copy
            : text.make(slotsInWords(preview.data.created))
        }
        pending={text.copying}
        write={write}
        places={{ shift_days: 'to', snippet_name: 'snippetName', repeat: 'repeat' }}
        concerns={concernsOf(preview.data, snippetName, now)}
        isChecking={!isReady && preview.error === null}
        onSend={() => void send()}
        onCancel={onClose}
      >
        <div className="row">
          <TextField
            label={text.copyFrom(weekdayHint(day))}
            name="to"
            type="date"
            value={to}
            onChange={setTo}
            validate={() => (shiftDays >= 1 && shiftDays <= 366 ? null : text.noLaterDay)}
            autoFocus
          />
          <TextField
            label={text.times}
            hint={text.timesHint}
            name="repeat"
            inputMode="numeric"
            value={repeat}
            onChange={setRepeat}
            validate={(typed) => (/^([1-9]|[1-4]\d|5[0-2])$/.test(typed.trim()) ? null : text.noTimes)}
          />
          <TextField
            label={text.snippetNames}
            hint={text.snippetNamesHint}
            name="snippetName"
            placeholder="{name} {date}"
            value={snippetName}
            onChange={setSnippetName}
            maxLength={128}
          />
        </div>
        <p className="detail">{text.copiesAre}</p>
        {preview.error === null ? (
          <CopyPreview {...{ leftOut, setLeftOut }} whole={whole.data} answer={preview.data} />
        ) : (
          write.failure === undefined && (
            <Problem failure={describeFailure(preview.error)} onRetry={() => void preview.refetch()} />
          )
        )}
        {hasTakenNames && whole.data !== undefined && <TakenNames copies={whole.data.copies} />}
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
    ...(late.length === 0 ? [] : [text.late(slotsInWords(late.length))]),
    ...(odd === null ? [] : [text.oddName(odd[0])]),
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
  const asked = useDebounced(toJsonString(copySlots.input, create(copySlots.input, request)));
  const { shiftDays = 0, repeat = 0 } = request;
  return useQuery({
    queryKey: ['copy preview', asked],
    queryFn: async ({ signal }) => {
      const dry = { ...request, dryRun: true };
      return (await transport.unary(copySlots, signal, undefined, undefined, dry, undefined)).message;
    },
    enabled: isWanted && shiftDays >= 1 && shiftDays <= 366 && repeat >= 1 && repeat <= 52,
    placeholderData: keepPreviousData,
  });
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
