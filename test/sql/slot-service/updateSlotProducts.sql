with seen as (select id, etag, xmin from slots where id = $slotId),
compared as (
  select product_id, stored.product_id is null as is_added, listed.product_id is null as is_removed
  from (select product_id from product_slots where slot_id = $slotId) as stored
  full join (select unnest($productIds::integer[]) as product_id) as listed using (product_id)
),
difference as materialized (
  select $slotId as id, count(*) filter (where is_added)::integer as added, count(*) filter (where is_removed)::integer as removed,
  count(*) > 100 as may_be_long, json_agg(product_id order by product_id) filter (where not is_added) as before,
  json_agg(product_id order by product_id) filter (where not is_removed) as after
  from compared
),
change as (select *, added + removed > 0 as differs from difference where ($etag = '' or exists (select from seen where ($etag = '' or seen.etag::text = $etag)))),
slot as (
  update slots set etag = default from seen join change using (id) where differs and slots.id = seen.id and slots.xmin = seen.xmin
  returning slots.id
),
written as (
  select id from slot
  -- A missing slot has no row to lock, so its products are written only under the advisory lock.
  union all select id from change where differs and $isLocked::boolean and not exists (select from seen)
),
removed as (
  delete from product_slots using written
  where slot_id = written.id and product_id = any(array(select product_id from compared where is_removed))
),
added as (
  insert into product_slots (slot_id, product_id)
  select written.id, product_id from written, compared where is_added
  order by product_id
),
slot_entry as (
  insert into audit_entries (
    procedure, subject, staff_id, request_id, resource_type, resource_id, before, after, shown_bytes
  )
  select ($actor::text[])[1], ($actor::text[])[2], case when ($actor::text[])[3] is null and ($actor::text[])[5] is not null then (
    select id from staff_users where external_id = ($actor::text[])[5] and disabled_at is null
  ) else ($actor::text[])[3]::integer end, ($actor::text[])[4],
  'slot', id, before, after, coalesce(octet_length(before::text), 0) + octet_length(after::text)
  from (select id, case when ids is null then json_build_object('productIds', coalesce(before, '[]')) else '{}' end as before,
    json_build_object('productIds', coalesce(ids, after, '[]')) as after
    from written join change using (id),
    -- Most writes change few ids, and are spared the call of the function.
    lateral (select case when may_be_long then changed_ids(before, after) end as ids offset 0) as changed offset 0) as changes
),
kept as (select id from written union all select id from change where not differs),
request as (insert into store_refresh_requests (slot_id) select id from kept returning slot_id)
select added, removed, (select id from kept) as id, ($etag = '' or exists (select from seen where ($etag = '' or seen.etag::text = $etag))) as "mayWrite", store_request_id()::text as "storeRequestId"
from difference
