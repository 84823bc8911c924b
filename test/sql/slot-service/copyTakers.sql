with copies as materialized (
  select place, source_id, seen,
  timestamptz 'epoch' + delivery::bigint / 1000000 * interval '1 second'
  + delivery::bigint % 1000000 * interval '1 microsecond' as delivery_time
  from unnest($sourceIds::integer[], $seen::text[], $deliveries::bigint[])
  with ordinality as given (source_id, seen, delivery, place)
),
sources as materialized (
  select id, xmin::text as version, group_ids from slots where id = any($sourceIds::integer[])
),
wanted as materialized (
  select sources.id as source_id, group_id from sources, unnest(case when sources.group_ids = '{}' then array[4294967296] else sources.group_ids::bigint[] end) as group_id
),
at_times as materialized (
  select id, delivery_time, group_ids from slots
  where is_active and delivery_time in (select delivery_time from copies)
),
sized as materialized (
  select coalesce(sum(pg_column_size(group_ids)), 0) > 4194304 as have_many_groups from at_times
  where group_ids <> '{}'
),
takers as (
  select delivery_time, group_id, min(id) as id
  from at_times, unnest(case when at_times.group_ids = '{}' then array[4294967296] else at_times.group_ids::bigint[] end) as group_id
  where not (select have_many_groups from sized) and group_id in (select group_id from wanted)
  group by delivery_time, group_id
),
taken as (
  select place, min(takers.id) as id
  from copies join wanted using (source_id) join takers using (delivery_time, group_id)
  group by place
)
select place::integer, taken.id, (select have_many_groups from sized) as "haveManyGroups", (
  select case when not bool_and(coalesce(version = seen, false)) then refuse_lost_race() end
  from copies left join sources on sources.id = source_id
) as "lostRace"
from copies left join taken using (place)
