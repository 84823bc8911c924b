select $key::integer as "slotId",
case when cardinality(ids) <= 100 then array_to_json(ids) end as "productIds"
from (
  select array(
    select product_id from product_slots
    where slot_id = $key::integer order by product_id limit 100 + 1
  ) as ids
  offset 0
) as slot
