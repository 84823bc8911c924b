with given as materialized (
  select * from unnest($ids::integer[], $etags::text[]) with ordinality as given (id, etag, place)
),
seen as materialized (
  select id, is_capacity_full, etag from slots where id = any($ids::integer[])
  order by id for no key update
),
found as materialized (
  select given.id, place, seen.etag::text as etag,
  seen.id is not null and given.etag in ('', seen.etag::text) as is_current
  from given left join seen using (id)
),
verdict as materialized (select bool_and(is_current) as may_write from found),
change as materialized (
  select *, before::text is distinct from after::text as differs from (select id, json_strip_nulls(json_build_object('isCapacityFull', is_capacity_full)) as before,
    json_strip_nulls(json_build_object('isCapacityFull', $value::boolean)) as after
    from seen, verdict where may_write offset 0) as changes
),
written as (
  update slots set is_capacity_full = $value::boolean, etag = default
  from change where slots.id = change.id and differs
  returning slots.id, slots.is_capacity_full, slots.etag
),
slot_entry as (
  insert into audit_entries (
    procedure, subject, staff_id, request_id, resource_type, resource_id, before, after, shown_bytes
  )
  select ($actor::text[])[1], ($actor::text[])[2], case when ($actor::text[])[3] is null and ($actor::text[])[5] is not null then (
    select id from staff_users where external_id = ($actor::text[])[5] and disabled_at is null
  ) else ($actor::text[])[3]::integer end, ($actor::text[])[4],
  'slot', id, before, after, coalesce(octet_length(before::text), 0) + octet_length(after::text)
  from (select id, before, after from change join written using (id) offset 0) as changes
),
kept as (
  select * from written
  union all select seen.* from seen join change using (id) where not differs
),
request as (insert into store_refresh_requests (slot_id) select id from written returning slot_id)
select found.id, coalesce(kept.etag::text, found.etag) as etag, is_current as "isCurrent", may_write as "mayWrite",
coalesce(differs, false) as differs, store_request_id()::text as "storeRequestId"
from verdict, found left join kept using (id) left join change using (id)
order by place
