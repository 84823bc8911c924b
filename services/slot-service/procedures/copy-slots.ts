import { actorOf } from '../../../shared/audit/entry.ts';
import { conditionalWrite } from '../../../shared/db/races.ts';
import type { Queryable } from '../../../shared/db/statement.ts';
import { invalidField } from '../../../shared/errors/errors.ts';
import {
  type CopySlotsRequest,
  OnTaken,
  type SlotCopySchema,
  type SlotPlanService,
} from '../../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { type Answer, JsonText } from '../../../shared/rpc/answers/answer.ts';
import type { CallContext } from '../../../shared/rpc/call-context.ts';
import { readCode } from '../../../shared/rpc/code-text.ts';
import { optionalDate } from '../../../shared/rpc/dates.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { readTimeZone } from '../../../shared/rpc/interval.ts';
import type { SlotPlanParts } from '../parts.ts';
import type { MovedTime } from '../plan/copies.ts';
import {
  isTaken,
  type JudgedCopy,
  judgeCopies,
  type PlannedCopy,
  planCopies,
  requireFree,
  type Shift,
} from '../plan/copies.ts';
import { type AskedSources, type CopySource, readSources } from '../plan/copy-sources.ts';
import { checkCopiedSnippets, insertCopies, toNameFormat } from '../plan/copy-writes.ts';
import { findTakers } from '../plan/takers.ts';
import { toCounts } from '../slots/slot.ts';
import { afterSlotWrite } from '../stores/after-slot-write.ts';

/**
 * Design 12, copySlots. Reads the sources, plans the copies, decides which are taken and stores the others, in one
 * transaction. If a source is changed in between, it starts again, with the sources locked.
 *
 * Throws INVALID_ARGUMENT, NOT_FOUND and the errors of snippets as `readAsked`, `readSources`, `planCopies`,
 * `findTakers` and `checkCopiedSnippets` do, and ALREADY_EXISTS SLOT_TAKEN.
 */
export function copySlots(parts: SlotPlanParts): Handler<typeof SlotPlanService.method.copySlots> {
  const { database } = parts;
  return async (request, call) => {
    const asked = readAsked(request, parts.timeZone);
    // A dry run sees all as it is at one moment.
    const options = asked.isDryRun ? ({ isolation: 'repeatable read' } as const) : {};
    const { copies, stored } = await conditionalWrite(async (isRerun) => [
      await database.within(call, (tx) => copy(tx, asked, call, isRerun), options),
    ]);
    const [first] = stored;
    if (first !== undefined) afterSlotWrite(parts, call, first.storeRequestId);
    return toAnswer(copies, stored, asked);
  };
}

interface Asked extends AskedSources, Shift {
  /** For PostgreSQL's `format(format, name, date)`; null if snippets are not copied. */
  readonly nameFormat: string | null;
  readonly failsOnTaken: boolean;
  readonly isDryRun: boolean;
}

/**
 * Throws INVALID_ARGUMENT unless the sources are given either as ids or as both times of a period, for a date that does
 * not parse, for a time zone that is not known, and for a template that `readCode` refuses.
 */
function readAsked(request: CopySlotsRequest, businessTimeZone: string): Asked {
  const { shiftDays, snippetName, onTaken, dryRun } = request;
  return {
    ...{ from: readFrom(request), shiftDays, repeat: request.repeat || 1 },
    timeZone: readTimeZone(request, businessTimeZone),
    copiesSnippets: snippetName !== '',
    nameFormat: snippetName === '' ? null : toNameFormat(readCode('snippet_name', snippetName)),
    failsOnTaken: onTaken === OnTaken.FAIL,
    isDryRun: dryRun,
  };
}

function readFrom({ slotIds, deliveryFrom, deliveryUntil }: CopySlotsRequest): AskedSources['from'] {
  const from = optionalDate('delivery_from', deliveryFrom);
  const until = optionalDate('delivery_until', deliveryUntil);
  if (from === null && until === null) {
    if (slotIds.length === 0) throw invalidField('slot_ids', 'or delivery_from and delivery_until must be given');
    return slotIds;
  }
  if (slotIds.length > 0) throw invalidField('slot_ids', 'must not be given with delivery_from or delivery_until');
  if (from === null) throw invalidField('delivery_from', 'must be given with delivery_until');
  if (until === null) throw invalidField('delivery_until', 'must be given with delivery_from');
  return { from: from.getTime(), until: until.getTime() };
}

/** Runs once, and loses a race if a source is changed meanwhile. The result is that of a conditional write. */
async function copy(tx: Queryable, asked: Asked, call: CallContext, isRerun: boolean) {
  const { nameFormat, failsOnTaken, isDryRun } = asked;
  const sources = await readSources(tx, asked, { locks: isRerun && !isDryRun });
  // PostgreSQL ends a transaction that pauses for long. So it waits behind other copies of the caller, and not behind the
  // caller's long answers.
  const planner = { subject: `${call.subject}: copies`, signal: call.signal };
  const planned = await planCopies(planner, sources, asked);
  const takers = await findTakers(tx, planned, { locks: !isDryRun });
  const copies = await judgeCopies(planner, planned, takers);
  if (failsOnTaken) requireFree(copies);
  const free = copies.filter((each) => !isTaken(each));
  if (nameFormat !== null) await checkCopiedSnippets(tx, free, nameFormat);
  if (isDryRun || free.length === 0) return { id: null, mayWrite: false, copies, stored: [] };
  const sum = (countOf: (source: CopySource) => number) => free.reduce((all, { source }) => all + countOf(source), 0);
  const rowsOf = (source: CopySource) => 1 + source.linkCount + (nameFormat === null ? 0 : source.snippetCount);
  if (!isRerun)
    call.chargeRows(
      sum(rowsOf),
      sum(({ listedIds }) => listedIds),
    );
  const stored = await insertCopies(tx, free, nameFormat, actorOf(call));
  return { id: stored[0]?.id ?? null, mayWrite: true, copies, stored };
}

function toAnswer(
  copies: readonly JudgedCopy[],
  stored: readonly { readonly id: number; readonly etag: string }[],
  { nameFormat }: Asked,
) {
  const made = copies.filter((copy) => !isTaken(copy));
  const storedOf = new Map(made.map(({ source, days }, index) => [`${source.id} ${days}`, stored[index]]));
  const storedAs = ({ source, days }: PlannedCopy) => storedOf.get(`${source.id} ${days}`);
  const takenBy = ({ takenById, takenByCopy }: JudgedCopy) =>
    takenByCopy === undefined
      ? takenById
      : Math.min(takenById ?? Infinity, storedAs(takenByCopy)?.id ?? takenById ?? 0);
  return {
    copies: copies.map((copy) => toCopy(copy, storedAs(copy), takenBy(copy))),
    created: made.length,
    skipped: copies.length - made.length,
    snippetsLeftOut: nameFormat === null ? made.reduce((sum, { source }) => sum + source.snippetCount, 0) : 0,
  };
}

function toCopy(
  { source, delivery, freeze, validTills }: JudgedCopy,
  { id = 0, etag = '' }: { readonly id?: number; readonly etag?: string } = {},
  takenBySlotId: number | undefined,
) {
  // Cut to milliseconds, as all answers show times.
  const shown = ({ micros }: MovedTime) => Number((micros - modulo(micros, 1_000n)) / 1_000n);
  return {
    sourceSlotId: source.id,
    slot: {
      ...{ id, etag, deliveryTime: shown(delivery), freezeTime: shown(freeze), isActive: true, isCapacityFull: false },
      ...{ groupIds: source.groupIds, deliverySequence: new JsonText('{}') },
      ...toCounts({ ...source, booked: source.capacity === null ? null : 0 }),
    },
    isAdjusted: [delivery, freeze, ...validTills].some(({ isAdjusted }) => isAdjusted),
    takenBySlotId,
  } satisfies Answer<typeof SlotCopySchema>;
}

const modulo = (value: bigint, by: bigint) => ((value % by) + by) % by;
