select pg_advisory_xact_lock(hashtext(own_name('units of a slot')), slot_id)
from (
  select slot_id from slot_bookings where id = $id union select $slotId::integer where $slotId is not null
  order by slot_id offset 0
) as slots
