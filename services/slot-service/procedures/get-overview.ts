import { maxInt32 } from '../../../shared/db/int32.ts';
import { timeOf } from '../../../shared/db/micros.ts';
import { onlyRow, statement } from '../../../shared/db/statement.ts';
import type { SlotPlanService } from '../../../shared/gen/slot/v1/slot_plan_service_pb.ts';
import { isRunOut } from '../../../shared/holds/hold.ts';
import { mapped } from '../../../shared/rpc/answers/answer.ts';
import type { Handler } from '../../../shared/rpc/implementation.ts';
import { readInterval, tooManyDays } from '../../../shared/rpc/interval.ts';
import { found, showFound } from '../../../shared/searching/searching.ts';
import type { SlotOverviewParts } from '../parts.ts';
import { selectPlanned, toPlannedSlot } from '../plan/planned-slot.ts';
import { liveHolds } from '../slots/capacity.ts';
import { pendingRequests } from '../stores/requests.ts';

const maxDays = 8;
const dayMs = 24 * 60 * 60 * 1_000;
const maxClosing = 20;
/** Only the first slots of the interval are summed up. */
const maxSlots = 10_000;

/**
 * Design 17, getOverview: sums up the active slots of an interval, and lists those that close soon. Throws
 * INVALID_ARGUMENT for a date that does not parse, and for an interval of more than 8 days.
 */
export function getOverview({
  database,
  replica,
  unsent,
}: SlotOverviewParts): Handler<typeof SlotPlanService.method.getOverview> {
  return async (request, call) => {
    const { from, until } = readInterval(request);
    if (until - from > maxDays * dayMs) throw tooManyDays(maxDays);
    const { refreshedAt } = await replica.read(call);
    const db = database.for(call);
    const [sums, closing, ofEvents] = await Promise.all([
      db.query(sumSlots({ fromMicros: `${from}000`, untilMicros: `${until}000` })),
      showFound(db, findClosing(), selectPlanned({ rows: maxClosing + 1 })),
      unsent(db),
    ]);
    return { ...onlyRow(sums), closing: mapped(closing, toPlannedSlot), refreshedAt, ...ofEvents };
  };
}

interface Sums {
  slots: number;
  full: number;
  capacity: number;
  booked: number;
  held: number;
  pendingRequests: number;
}

const sumOf = (units: string) => `least(coalesce(sum(${units}), 0), ${maxInt32})::integer`;

const sumSlots = statement<Sums, { fromMicros: string; untilMicros: string }>(
  'sumSlots',
  `with listed as materialized (
     select id, is_capacity_full, capacity from slots
     where is_active and delivery_time >= ${timeOf('$fromMicros')} and delivery_time < ${timeOf('$untilMicros')}
     order by delivery_time, id limit ${maxSlots}
   ), counted as materialized (
     -- Which slots have holds that have run out is read once: to look in each slot took five times as long.
     select is_capacity_full, capacity, booked, case
       when slot_id in (select slot_id from slot_bookings where ${isRunOut('slot_bookings')}) then ${liveHolds}
       else held
     end as held
     from listed left join slot_usage on slot_id = listed.id and capacity is not null
   )
   select count(*)::integer as slots,
     (count(*) filter (where is_capacity_full or capacity <= coalesce(booked + held, 0)))::integer as full,
     ${sumOf('capacity')} as capacity, ${sumOf('booked')} as booked, ${sumOf('held')} as held,
     ${pendingRequests} as "pendingRequests"
   from counted`,
);

// The expression is that of the index `slots_by_closing`.
const findClosing = statement<unknown>(
  'findClosing',
  found(`
    select id from slots
    where is_active and least(delivery_time, freeze_time) >= statement_timestamp()
      and least(delivery_time, freeze_time) < statement_timestamp() + interval '2 hours'
    order by least(delivery_time, freeze_time), id limit ${maxClosing}`),
);
