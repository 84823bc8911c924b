select coalesce(json_agg(id), '[]') as "slotIds" from slots
