import { actorOf } from '../../../shared/audit/entry.ts';
import { isTimeZone } from '../../../shared/clock/time-zone.ts';
import { conditionalWrite } from '../../../shared/db/races.ts';
import type { BatchQueryable } from '../../../shared/db/transaction.ts';
import { invalidField } from '../../../shared/errors/errors.ts';
import {
  type CopySlotsRequest,
  OnTaken,
  type SlotCopySchema,
  type SlotPlanService,
} from '../../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { type Answer, JsonText } from '../../../shared/rpc/answers/answer.ts';
import { shownTime } from '../../../shared/rpc/answers/shown.ts';
import type { CallContext } from '../../../shared/rpc/call-context.ts';
import { readCode } from '../../../shared/rpc/code-text.ts';
import { optionalDate } from '../../../shared/rpc/dates.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import type { SlotPlanParts } from '../parts.ts';
import {
  isTaken,
  type JudgedCopy,
  judgeCopies,
  type PlannedCopy,
  planCopies,
  requireFree,
  type Shift,
} from '../plan/copies.ts';
import { type AskedSources, readSources } from '../plan/copy-sources.ts';
import { checkCopiedSnippets, insertCopies, toNameFormat } from '../plan/copy-writes.ts';
import { findTakers } from '../plan/takers.ts';
import { afterSlotWrites } from '../stores/after-slot-write.ts';

/**
 * Design 12, copySlots. Plans the copies, then decides which are taken and stores the others, in one transaction. A
 * source that was changed in between makes it start again.
 *
 * Throws INVALID_ARGUMENT, NOT_FOUND and the errors of snippets as `readAsked`, `readSources`, `planCopies` and
 * `checkCopiedSnippets` do, and ALREADY_EXISTS SLOT_TAKEN.
 */
export function copySlots(parts: SlotPlanParts): Handler<typeof SlotPlanService.method.copySlots> {
  const { database } = parts;
  return async (request, call) => {
    const asked = readAsked(request, parts.timeZone);
    const {
      id: _,
      copies,
      stored,
    } = await conditionalWrite(async () => {
      const planned = await planCopies(call, await readSources(database.for(call), asked), asked);
      return [
        asked.isDryRun
          ? { id: null, mayWrite: false, copies: await judge(database.for(call), planned, asked), stored: [] }
          : await database.within(call, (tx) => store(tx, planned, asked, call)),
      ];
    });
    const [first] = stored;
    if (first !== undefined) {
      afterSlotWrites(parts, call, { ids: stored.map(({ id }) => id), storeRequestId: first.storeRequestId });
    }
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
 * Throws INVALID_ARGUMENT for sources that are given in both ways, in neither or half, for a date that does not parse,
 * for a time zone that is not known, and for a template that `readCode` refuses.
 */
function readAsked(request: CopySlotsRequest, businessTimeZone: string): Asked {
  const { shiftDays, snippetName, onTaken, dryRun } = request;
  const timeZone = request.timeZone || businessTimeZone;
  if (!isTimeZone(timeZone)) throw invalidField('time_zone', 'is not the name of a time zone, such as Europe/Berlin');
  return {
    ...{ from: readFrom(request), shiftDays, repeat: request.repeat || 1, timeZone },
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

/** Decides which copies are taken, and checks the others. In a transaction that stores them, it `locks` their days. */
async function judge(
  db: BatchQueryable,
  planned: readonly PlannedCopy[],
  { failsOnTaken, nameFormat, isDryRun }: Asked,
): Promise<JudgedCopy[]> {
  const copies = judgeCopies(planned, await findTakers(db, planned, { locks: !isDryRun }));
  if (failsOnTaken) requireFree(copies);
  const free = copies.filter((copy) => !isTaken(copy));
  if (nameFormat !== null) await checkCopiedSnippets(db, free, nameFormat);
  return copies;
}

async function store(tx: BatchQueryable, planned: readonly PlannedCopy[], asked: Asked, call: CallContext) {
  const copies = await judge(tx, planned, asked);
  const free = copies.filter((copy) => !isTaken(copy));
  const stored = free.length === 0 ? [] : await insertCopies(tx, free, asked.nameFormat, actorOf(call));
  for (const { source } of free) {
    call.stored.records += 1 + (asked.copiesSnippets ? source.snippetCount : 0);
    call.stored.links += source.linkCount;
  }
  return { id: stored[0]?.id ?? null, mayWrite: free.length > 0, copies, stored };
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
  const shown = ({ micros }: { readonly micros: bigint }) => shownTime(Math.floor(Number(micros) / 1_000));
  return {
    sourceSlotId: source.id,
    slot: {
      ...{ id, etag, deliveryTime: shown(delivery), freezeTime: shown(freeze), isActive: true, isCapacityFull: false },
      ...{ groupIds: source.groupIds, deliverySequence: new JsonText('{}') },
    },
    isAdjusted: [delivery, freeze, ...validTills].some(({ isAdjusted }) => isAdjusted),
    takenBySlotId,
  } satisfies Answer<typeof SlotCopySchema>;
}
