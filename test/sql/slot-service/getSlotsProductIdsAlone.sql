select slot_id as "slotId", json_agg(product_id order by product_id) as "productIds"
from (
  select slot_id, product_id from product_slots where slot_id = any($slotIds)
  order by slot_id, product_id limit 1000000 + 1
) as associations
group by slot_id
