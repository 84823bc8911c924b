select pg_notify('delivery_sequence', json_build_object('slotId', id)::text) from unnest($ids::integer[]) as id
