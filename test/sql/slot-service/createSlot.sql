with found as (select
  array(
    select unnest($snippetProductIds::integer[])
    except select id from products where id = any($snippetProductIds::integer[])
  ) as "unknownProducts",
  array(select snippet_code from vendor_snippets where snippet_code = any($snippetNames::text[])) as "takenNames"),
written as (
  insert into slots (delivery_time, freeze_time, is_active, capacity, window_minutes, group_ids, shown_bytes)
  -- Measured here, which spares the trigger. The rest of the row has some 64 bytes.
  select fields.*, 64 + octet_length(fields::text)
  from found, (select $deliveryTime::timestamptz, $freezeTime::timestamptz, $isActive::boolean,
    nullif($capacity::integer, 0), nullif($windowMinutes::integer, 0), $groupIds::integer[]) as fields
  where case when
  $snippetsMayBeSound::boolean and "unknownProducts" = '{}' and "takenNames" = '{}' then $keyId::bytea is null or is_new_key($keyId) else false end
  returning *
),
strays as (delete from product_slots using written where slot_id = written.id returning product_id),
associations as (
  insert into product_slots (slot_id, product_id)
  select written.id, product_id
  -- Counting the strays makes PostgreSQL delete them first.
  from written, (select count(*) from strays) as deleted, unnest($productIds::integer[]) as product_id
  order by product_id
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
  from (select id, null::json as before, json_strip_nulls(json_build_object(
        'deliveryTime', api_time(written.delivery_time), 'freezeTime', api_time(written.freeze_time),
        'isActive', written.is_active, 'capacity', written.capacity, 'windowMinutes', written.window_minutes, 'groupIds', $groupIdsJson::json, 'isCapacityFull', is_capacity_full,
        'deliverySequence', delivery_sequence, 'productIds', $productIdsJson::json, 'vendorSnippets', $snippetsJson
    )) as after
    from written offset 0) as changes
),
request as (insert into store_refresh_requests (slot_id) select id from written returning slot_id)
select found.*,
$snippetsMayBeSound::boolean and "unknownProducts" = '{}' and "takenNames" = '{}' as "mayWrite",
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
from found left join written as slots on true
