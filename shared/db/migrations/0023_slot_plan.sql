-- Up Migration

-- Staff list slots by delivery time, active ones or not, all or only those that are full. No other query needs the index of the active ones.
create index slots_by_delivery_time on slots (is_active, delivery_time, id);
create index slots_by_capacity on slots (is_active, is_capacity_full, delivery_time, id);
drop index slots_active_by_delivery_time;

-- The slots of a product that few slots have. Writing this index takes a sixth of the time to create a slot with 20 products; with the
-- product alone it would take two thirds of that, but slots would have to be looked up in the table.
create index product_slots_by_product on product_slots (product_id, slot_id);

-- And of a group. New entries wait in a list, which each search reads, too: of 128 kB, not of 4 MB. The slots with more groups than
-- the index has are few: a slot with 100,000 would take three times as long to create.
create index slots_by_group on slots using gin ((group_ids[:100])) with (gin_pending_list_limit = 128);
create index slots_with_many_groups on slots (id) where cardinality(group_ids) > 100;
