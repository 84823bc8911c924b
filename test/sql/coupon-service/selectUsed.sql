with days as materialized (
  select array_agg(
    timestamptz 'epoch' + micros::bigint / 1000000 * interval '1 second'
    + micros::bigint % 1000000 * interval '1 microsecond' order by place) as starts
  from unnest($startMicros::bigint[]) with ordinality as starts (micros, place)
),
used as (
  select width_bucket(used_at, (select starts from days)) as day, sum(uses) as uses, sum(discount_used) as discount
  from (
    select quarter as used_at, uses, discount_used from folded_uses where quarter >= (select starts[1] from days) and quarter < (select starts[cardinality(starts)] from days)
    union all
    select used_at, uses, discount_used from unfolded_uses where used_at >= (select starts[1] from days) and used_at < (select starts[cardinality(starts)] from days)
  ) as changes
  group by day
)
select coalesce(uses, 0)::integer as uses, trim_scale(coalesce(discount, 0)) as "discountGiven"
from generate_series(1, cardinality($startMicros) - 1) as day left join used using (day)
order by day
