select slot_id as id, delivery_ms::float8 as "deliveryMs", freeze_ms::float8 as "freezeMs",
is_active and not is_capacity_full as "isOpen", array_to_json(product_ids) as "productIds",
capacity, window_minutes as "windowMinutes", booked from stored_slots
where is_active and not is_capacity_full and least(delivery_ms, freeze_ms) > $fromMs::float8
order by delivery_ms, slot_id
