select slot_id as "slotId" from slot_bookings where id = $bookingId
