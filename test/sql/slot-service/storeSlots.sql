with gone as (
  update stored_slots set version = $version, is_active = false
  where slot_id = any($slotIds::integer[]) and is_active
  and not exists (select from slots where id = slot_id)
)
insert into stored_slots (slot_id, version, delivery_ms, freeze_ms, is_active, is_capacity_full, product_ids)
select id, $version, floor(extract(epoch from delivery_time) * 1000), floor(extract(epoch from freeze_time) * 1000),
is_active, is_capacity_full, array(
  select product_id from product_slots where slot_id = slots.id and slots.is_active order by product_id
)
from slots where id = any($slotIds::integer[])
on conflict (slot_id) do update set version = excluded.version, delivery_ms = excluded.delivery_ms,
freeze_ms = excluded.freeze_ms, is_active = excluded.is_active, is_capacity_full = excluded.is_capacity_full,
product_ids = excluded.product_ids
where (stored_slots.delivery_ms, stored_slots.freeze_ms, stored_slots.is_active, stored_slots.is_capacity_full,
  stored_slots.product_ids)
is distinct from (excluded.delivery_ms, excluded.freeze_ms, excluded.is_active, excluded.is_capacity_full,
  excluded.product_ids)
