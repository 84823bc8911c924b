import { timeOf } from '../../../shared/db/micros.ts';
import { statement } from '../../../shared/db/statement.ts';

// Triggers keep what was used in each quarter of an hour (migration 0037), because time zones differ by whole quarters.
// Each connection counts in a row of its own, so that no write waits for another.

/** What was used on a day. */
interface UsedRow {
  uses: number;
  /** A decimal. */
  discountGiven: string;
}

/** Sums up days, each from its start to the start of the next one. The last start is the end of the last day. */
export const selectUsed = statement<UsedRow, { startMicros: readonly string[] }>(
  'selectUsed',
  `select uses, "discountGiven"
   from unnest($startMicros::bigint[], $startMicros[2:]) with ordinality as days (start_micros, end_micros, place),
   lateral (
     select coalesce(sum(uses), 0)::integer as uses, trim_scale(coalesce(sum(discount_used), 0)) as "discountGiven"
     from redemption_quarters
     where quarter >= ${timeOf('start_micros')} and quarter < ${timeOf('end_micros')}
   ) as used
   where end_micros is not null
   order by place`,
);

/** The sweep that folds the rows of all connections for a past quarter into one, which nobody writes any more. */
export const foldQuarters = statement<{ swept: number }, { most: number }>(
  'foldQuarters',
  `with past as (
     select quarter, backend from redemption_quarters
     where backend <> 0 and quarter < statement_timestamp() - interval '1 hour'
     order by quarter limit $most::integer for update skip locked
   ),
   taken as (
     delete from redemption_quarters as counted using past
     where (counted.quarter, counted.backend) = (past.quarter, past.backend) returning counted.*
   ),
   folded as (
     insert into redemption_quarters as counted (quarter, backend, uses, discount_used)
     select quarter, 0, sum(uses), sum(discount_used) from taken group by quarter order by quarter
     on conflict (quarter, backend) do update
     set uses = counted.uses + excluded.uses, discount_used = counted.discount_used + excluded.discount_used
   )
   select count(*)::integer as swept from taken`,
);
