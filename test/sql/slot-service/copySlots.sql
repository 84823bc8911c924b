with copies as materialized (
  select place, slots.xmin::text = seen as is_as_seen,
  timestamptz 'epoch' + delivery_micros::bigint / 1000000 * interval '1 second'
  + delivery_micros::bigint % 1000000 * interval '1 microsecond' as delivery_time,
  timestamptz 'epoch' + freeze_micros::bigint / 1000000 * interval '1 second'
  + freeze_micros::bigint % 1000000 * interval '1 microsecond' as freeze_time, capacity, window_minutes, group_ids
  from unnest($sourceIds::integer[], $seen::text[], $deliveries::bigint[], $freezes::bigint[])
  with ordinality as given (source_id, seen, delivery_micros, freeze_micros, place)
  join slots on slots.id = source_id
),
written as (
  insert into slots (delivery_time, freeze_time, is_active, capacity, window_minutes, group_ids)
  select delivery_time, freeze_time, true, capacity, window_minutes, group_ids from copies
  where (
    select case when bool_and(is_as_seen) and count(*) = cardinality($sourceIds) then case when true then $keyId::bytea is null or is_new_key($keyId) else false end
    else refuse_lost_race() is null end
    from copies
  )
  order by place
  returning *
),
-- The ids were given in the order of the places. Joining the sources by place would take a large plan too long.
numbered as materialized (
  select *, ($sourceIds)[place] as source_id, ($dates::text[])[place] as local_date
  from (select *, (row_number() over (order by id))::integer as place from written) as written
),
strays as (delete from product_slots using written where slot_id = written.id returning product_id),
products as materialized (
  select slot_id, array_agg(product_id order by product_id) as product_ids
  from product_slots where slot_id = any($sourceIds::integer[]) group by slot_id
),
associations as (
  insert into product_slots (slot_id, product_id)
  select numbered.id, product_id
  from (select count(*) from strays) as deleted, numbered join products on slot_id = source_id,
  unnest(product_ids) as product_id
  order by numbered.id, product_id
),
renamed as materialized (
  select numbered.id as slot_id, normalize(format($nameFormat, snippet_code, local_date)) as snippet_code, product_ids,
  timestamptz 'epoch' + moved::bigint / 1000000 * interval '1 second'
  + moved::bigint % 1000000 * interval '1 microsecond' as valid_till
  from numbered join vendor_snippets on slot_id = source_id, lateral (
    select ($ends::jsonb ->> concat(place, ' ', (extract(epoch from valid_till) * 1000000)::bigint))::bigint as moved offset 0
  ) as ends
  where $nameFormat::text is not null
),
snippets as (
  insert into vendor_snippets (slot_id, snippet_code, product_ids, valid_till)
  select slot_id, snippet_code, product_ids, valid_till from renamed order by snippet_code collate "C"
  on conflict (snippet_code) do nothing
  returning 1
),
group_entries as materialized (
  select id,
  case when cardinality(group_ids) > 100 then json_build_object('added', array(select unnest(group_ids) order by 1), 'removed', '[]'::json) else to_json(group_ids) end as entry from slots
  where id = any($sourceIds::integer[])
),
product_entries as materialized (
  select slot_id,
  case when cardinality(product_ids) > 100 then json_build_object('added', product_ids, 'removed', '[]'::json) else to_json(product_ids) end as entry from products
),
snippet_entries as materialized (
  select slot_id, jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
        'snippetCode', snippet_code, 'productIds', product_ids, 'validTill', api_time(valid_till)
    )) order by snippet_code collate "C") as entry
  from renamed group by slot_id
),
slot_entry as (
  insert into audit_entries (
    procedure, subject, staff_id, request_id, resource_type, resource_id, before, after, shown_bytes
  )
  select ($actor::text[])[1], ($actor::text[])[2], case when ($actor::text[])[3] is null and ($actor::text[])[5] is not null then (
    select id from staff_users where external_id = ($actor::text[])[5] and disabled_at is null
  ) else ($actor::text[])[3]::integer end, ($actor::text[])[4],
  'slot', id, before, after, coalesce(octet_length(before::text), 0) + octet_length(after::text)
  from (select numbered.id, null::json as before, json_strip_nulls(json_build_object(
        'deliveryTime', api_time(numbered.delivery_time), 'freezeTime', api_time(numbered.freeze_time),
        'isActive', numbered.is_active, 'capacity', numbered.capacity, 'windowMinutes', numbered.window_minutes, 'groupIds', group_entries.entry, 'isCapacityFull', is_capacity_full,
        'deliverySequence', delivery_sequence, 'productIds', coalesce(product_entries.entry, '[]'),
        'vendorSnippets', coalesce(snippet_entries.entry, '[]')
    )) as after
    from numbered join group_entries on group_entries.id = source_id
    left join product_entries on product_entries.slot_id = source_id
    left join snippet_entries on snippet_entries.slot_id = numbered.id
    order by numbered.id offset 0) as changes
),
request as (insert into store_refresh_requests (slot_id) select id from written returning slot_id)
select id, etag, store_request_id()::text as "storeRequestId",
case when (select count(*) from snippets) < (select count(*) from renamed) then refuse_lost_race() end as "lostRace"
from numbered order by place
