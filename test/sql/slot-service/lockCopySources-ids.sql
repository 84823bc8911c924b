select from slots where id = any($slotIds::integer[]) order by id limit 1001 for share
