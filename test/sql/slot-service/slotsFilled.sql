select count(*)::integer as filled from stored_slots join slots on slots.id = slot_id
where not slots.is_capacity_full and stored_slots.is_active and stored_slots.is_capacity_full
and stored_slots.capacity is not null
and least(delivery_ms, freeze_ms) > extract(epoch from statement_timestamp()) * 1000
