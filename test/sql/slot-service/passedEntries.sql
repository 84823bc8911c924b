select coalesce(max(id), $after::bigint)::float8 as "upTo",
coalesce(array_agg(previous::float8) filter (where id > previous + 1), '{}') as "gapsAfter",
coalesce(array_agg(id::float8) filter (where id > previous + 1), '{}') as "gapsBefore"
from (
  select id, lag(id, 1, $after::bigint) over (order by id) as previous from audit_entries where id > $after::bigint
) as entries
