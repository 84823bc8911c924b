select found.*
from unnest($keys::integer[]) as asked (key), lateral (
  select slots.id as "slotId", detail.*,
  coalesce("snippetsSize" + json_array_length("productSlots") > $maxSize::integer, true) as "isTooLarge"
  from slots left join lateral (
    select
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
      ), 0) end as booked, slots.delivery_sequence::text as "deliverySequence", "snippetsSize",
    (
      select listed from (
        select coalesce(
          json_agg(json_build_array(product_id, name, images) order by product_id) filter (where not is_large), '[]'
        ) as listed
        from (
          select product_id, products.name, products.images, ($maxSize::bigint <= 100
            and pg_column_size(products.name) + pg_column_size(products.images) > 2000) is true as is_large
          from (
            select product_id from product_slots where slot_id = slots.id limit $maxSize::bigint + 1
          ) as associations left join products on products.id = product_id
        ) as products
        having not coalesce(bool_or(is_large), false)
      ) as products
      where octet_length(listed::text) <= $maxSize::bigint * 1000
    ) as "productSlots",
    coalesce((
        select jsonb_agg(jsonb_build_object(
            'snippetCode', snippet_code, 'slotId', slot_id, 'productIds', product_ids,
            'validTill', floor(extract(epoch from valid_till) * 1000)
          ) order by id)
        from vendor_snippets where slot_id = slots.id
      ), '[]') as "vendorSnippets"
    from (
      select coalesce(sum(1 + greatest(pg_column_size(product_ids) - 21, 0) / 4), 0) as "snippetsSize" from (
        select product_ids from vendor_snippets where slot_id = slots.id limit $maxSize::bigint + 1
      ) as snippets
    ) as measured
    where "snippetsSize" <= $maxSize and slots.shown_bytes / 160 <= $maxSize
    and ($maxSize <= 100 or (
        select coalesce(sum(octet_length(products.name) + coalesce(octet_length(array_to_string(products.images, '')), 0)), 0)
        from product_slots join products on products.id = product_id where slot_id = slots.id
      ) <= 67108864)
    offset 0
  ) as detail on true
  where slots.id = asked.key::integer
  offset 0
) as found
