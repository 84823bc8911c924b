select uses, "discountGiven"
from unnest($startMicros::bigint[], $startMicros[2:]) with ordinality as days (start_micros, end_micros, place),
lateral (
  select coalesce(sum(uses), 0)::integer as uses, trim_scale(coalesce(sum(discount_used), 0)) as "discountGiven"
  from redemption_quarters
  where quarter >=
  timestamptz 'epoch' + start_micros::bigint / 1000000 * interval '1 second'
  + start_micros::bigint % 1000000 * interval '1 microsecond' and quarter <
  timestamptz 'epoch' + end_micros::bigint / 1000000 * interval '1 second'
  + end_micros::bigint % 1000000 * interval '1 microsecond'
) as used
where end_micros is not null
order by place
