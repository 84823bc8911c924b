-- Up Migration

-- Other systems load these tables with ids of their own, which leaves the sequences behind. The next id is therefore the next one
-- that is free: of a block of taken ids, the function moves the sequence to the first gap at or after it. It fails as the end
-- of a sequence does if there is none.
do $$
declare
  name text;
  last_id bigint;
  was_drawn boolean;
  grants text[];
  regrant text;
begin
  foreach name in array array['users', 'products', 'product_groups', 'orders', 'order_statuses'] loop
    execute format('lock table %I in access exclusive mode', name);
    execute format('select last_value, is_called from %I', name || '_id_seq') into last_id, was_drawn;
    grants := array(
      select format('grant %s on sequence %I to %s', privilege_type, name || '_id_seq', grantee::regrole)
      from pg_class, aclexplode(relacl) where oid = (name || '_id_seq')::regclass and grantee <> 0
    );
    -- An identity column can't have another default.
    execute format('alter table %I alter column id drop identity', name);
    execute format('create sequence %I as integer owned by %I.id', name || '_id_seq', name);
    perform setval((name || '_id_seq')::regclass, last_id, was_drawn);
    foreach regrant in array grants loop
      execute regrant;
    end loop;
    -- With the rights of the owner, so that who may insert a row needs none on the sequence.
    execute format($function$
      create function %1$I() returns integer
        language plpgsql volatile security definer set search_path = %4$I, pg_temp
        as $body$
      declare
        free bigint := nextval(%3$L);
      begin
        if not exists (select from %2$I where id = free) then
          return free;
        end if;
        -- One at a time: two that look for a gap at once would find the same one.
        perform pg_advisory_xact_lock('pg_class'::regclass::oid::integer, %3$L::regclass::oid::integer);
        free := nextval(%3$L);
        if exists (select from %2$I where id = free) then
          select id::bigint + 1 into free
          from (select id, lead(id) over (order by id) as following from %2$I where id >= free) as taken
          where following is distinct from id + 1::bigint limit 1;
          if free > 2147483647 then
            raise exception 'no id is free after those of %2$I' using errcode = 'sequence_generator_limit_exceeded';
          end if;
          perform setval(%3$L, free);
        end if;
        return free;
      end $body$
    $function$, 'next_' || name || '_id', name, name || '_id_seq', current_schema());
    execute format('alter table %I alter column id set default %I()', name, 'next_' || name || '_id');
  end loop;
end $$;
