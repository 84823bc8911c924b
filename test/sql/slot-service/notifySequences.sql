select pg_notify(own_name('delivery_sequence'), json_build_object('slotId', id)::text) from unnest($ids::integer[]) as id
