import { timeOf } from '../../../shared/db/micros.ts';
import { statement } from '../../../shared/db/statement.ts';

// Triggers append what was used, and when, to `unfolded_uses` (migration 0037), so that no order waits for another. A sweep
// folds it into quarters of an hour.

/** What was used on a day. */
interface UsedRow {
  uses: number;
  /** A decimal. */
  discountGiven: string;
}

const isBetween = (time: string) =>
  `${time} >= (select starts[1] from days) and ${time} < (select starts[cardinality(starts)] from days)`;

/** Sums up days by when they begin. The last one is the end of the day before. */
export const selectUsed = statement<UsedRow, { startMicros: readonly string[] }>(
  'selectUsed',
  `with days as materialized (
     select array_agg(${timeOf('micros')} order by place) as starts
     from unnest($startMicros::bigint[]) with ordinality as starts (micros, place)
   ),
   used as (
     select width_bucket(used_at, (select starts from days)) as day, sum(uses) as uses, sum(discount_used) as discount
     from (
       select quarter as used_at, uses, discount_used from folded_uses where ${isBetween('quarter')}
       union all
       select used_at, uses, discount_used from unfolded_uses where ${isBetween('used_at')}
     ) as changes
     group by day
   )
   select coalesce(uses, 0)::integer as uses, trim_scale(coalesce(discount, 0)) as "discountGiven"
   from generate_series(1, cardinality($startMicros) - 1) as day left join used using (day)
   order by day`,
);

/** The sweep that folds what was used. Nobody waits for these rows, so it takes more of them than other sweeps. */
export const foldUses = statement<{ swept: number }, { most: number }>(
  'foldUses',
  `with taken as (
     delete from unfolded_uses
     where ctid = any (array(select ctid from unfolded_uses limit 10 * $most::integer for update skip locked))
     returning *
   ),
   folded as (
     insert into folded_uses as counted (quarter, uses, discount_used)
     select date_bin('15 minutes', used_at, '2000-01-01Z') as quarter, sum(uses), sum(discount_used)
     from taken group by quarter order by quarter
     on conflict (quarter) do update
     set uses = counted.uses + excluded.uses, discount_used = counted.discount_used + excluded.discount_used
   )
   select count(*)::integer as swept from taken`,
);
