with older as materialized (
  select coalesce(max(id), 0) as id from audit_entries where at < clock_timestamp() - interval '5 minutes'
),
passed as materialized (
  select coalesce(max(id), (select id from older))::float8 as "upTo",
  coalesce(array_agg(previous::float8) filter (where id > previous + 1), '{}') as "gapsAfter",
  coalesce(array_agg(id::float8) filter (where id > previous + 1), '{}') as "gapsBefore"
  from (
    select id, lag(id, 1, (select id from older)) over (order by id) as previous from audit_entries where id > (select id from older)
  ) as entries)
update webhook_deliveries
set sent_id = coalesce("gapsAfter"[1], "upTo")
from passed where service = $service and sent_id is null
returning "upTo", "gapsAfter", "gapsBefore"
