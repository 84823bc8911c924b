with seen as (select *, xmin from slots where id = $id),
found as (
  select
  exists (select from seen) as "exists",
  exists (select from seen where ($etag = '' or seen.etag::text = $etag)) as "isCurrent",
  array(
    select unnest($snippetProductIds::integer[])
    except select id from products where id = any($snippetProductIds::integer[])
  ) as "unknownProducts",
  array(select snippet_code from vendor_snippets where snippet_code = any($snippetNames::text[])) as "takenNames"
),
wanted (id, delivery_time, freeze_time, is_active, capacity, window_minutes, group_ids) as (
  select id, $deliveryTime::timestamptz, $freezeTime::timestamptz, $isActive::boolean,
  nullif(coalesce($capacity::integer, seen.capacity), 0), nullif(coalesce($windowMinutes::integer, seen.window_minutes), 0),
  -- 2: drops ids without a product group.
  array(
    select given.id
    from unnest($groupIds::integer[]) with ordinality as given (id, position)
    join product_groups using (id)
    order by position
  )
  from seen, found where ("isCurrent" and
    $snippetsMayBeSound::boolean and "unknownProducts" = '{}' and "takenNames" = '{}')
),
change as materialized (
  select *, before::text is distinct from after::text as differs from (select id, before, after from (select id,
      json_build_object(
        'deliveryTime', api_time(seen.delivery_time), 'freezeTime', api_time(seen.freeze_time),
        'isActive', seen.is_active, 'capacity', seen.capacity, 'windowMinutes', seen.window_minutes, 'groupIds', to_json(seen.group_ids),
        'productIds', case when $productIds::integer[] is not null then array_to_json(array(
            select product_id from product_slots where slot_id = $id order by product_id
        )) end,
        'vendorSnippets', case when $snippetsJson::jsonb <> '[]' then (
          select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
                  'snippetCode', snippet_code, 'productIds', product_ids, 'validTill', api_time(valid_till)
              )) order by id), '[]')
          from vendor_snippets where slot_id = $id
        ) end
      ) as old,
      json_build_object(
        'deliveryTime', api_time(wanted.delivery_time), 'freezeTime', api_time(wanted.freeze_time),
        'isActive', wanted.is_active, 'capacity', wanted.capacity, 'windowMinutes', wanted.window_minutes, 'groupIds', to_json(wanted.group_ids),
        'productIds', case when $productIds is not null then array_to_json(array(select unnest($productIds) order by 1)) end,
        'vendorSnippets', case when $snippetsJson <> '[]' then (
          select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
                  'snippetCode', snippet_code, 'productIds', product_ids, 'validTill', api_time(valid_till)
              )) order by id), '[]')
          from vendor_snippets where slot_id = $id
        ) || $snippetsJson end
      ) as new
      from seen join wanted using (id)) as records, lateral changed_fields(old, new) offset 0) as changes
),
written as (
  update slots
  set (delivery_time, freeze_time, is_active, capacity, window_minutes, group_ids) = (select delivery_time, freeze_time, is_active, capacity, window_minutes, group_ids from wanted), etag = default
  from seen join change using (id) where differs and slots.id = seen.id and slots.xmin = seen.xmin
  returning slots.*, slots.xmin
),
removed as (
  delete from product_slots using written
  where slot_id = written.id and $productIds is not null
  and product_id not in (select unnest($productIds))
),
added as (
  insert into product_slots (slot_id, product_id)
  select written.id, product_id from written, unnest($productIds) as product_id
  order by product_id
  on conflict do nothing
),
snippets as (
  insert into vendor_snippets (slot_id, snippet_code, product_ids, valid_till)
  select written.id, given."snippetCode", given."productIds", given."validTill"
  from written,
  jsonb_to_recordset($snippetsJson) as given ("snippetCode" text, "productIds" integer[], "validTill" timestamptz)
  order by given."snippetCode" collate "C"
  on conflict (snippet_code) do nothing
  returning 1
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
request as (insert into store_refresh_requests (slot_id) select id from kept returning slot_id)
select found.*, ("isCurrent" and
  $snippetsMayBeSound::boolean and "unknownProducts" = '{}' and "takenNames" = '{}') as "mayWrite",
slots.id, to_json(slots.delivery_time at time zone 'UTC')::text as "deliveryTime",
to_json(slots.freeze_time at time zone 'UTC')::text as "freezeTime",
slots.is_active as "isActive", slots.is_capacity_full as "isCapacityFull",
to_json(slots.group_ids) as "groupIds", slots.etag, slots.capacity, slots.window_minutes as "windowMinutes",
case when slots.capacity is not null then coalesce((
    select least(booked + (held - case when held = 0 then 0 else coalesce((
            select sum(units) from slot_bookings
            where slot_id = slot_usage.slot_id and (state = 'HELD' and held_until at time zone 'UTC' <= statement_timestamp() at time zone 'UTC')
          ), 0) end), 2147483647)::integer
    from slot_usage where slot_id = slots.id
  ), 0) end as booked, slots.delivery_sequence::text as "deliverySequence", store_request_id()::text as "storeRequestId",
case when (select count(*) from snippets) < (select cardinality($snippetNames) from written)
then refuse_lost_race()
end as "lostRace"
from found left join kept as slots on true
