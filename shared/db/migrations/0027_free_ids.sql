-- Up Migration

-- Other systems load these tables with ids of their own, which leaves the sequences behind. The next id is therefore the next one that
-- is free. An id of a user or product that was deleted is not, while links or redemptions name it: they would become another one's. Over a
-- long block of taken ids, the sequence moves at once. Ids that are drawn are different even so: `nextval` draws each of them.
do $$
declare
  tab record;
  seq record;
  grants text[];
  regrant text;
  owner_name text;
begin
  for tab in
    select * from (values
      ('users', 'exists (select from %1$I.coupon_applicable_users where user_id = drawn)
         or exists (select from %1$I.reserved_coupons where redeemed_by = drawn)
         or exists (select from %1$I.redemptions where user_id = drawn)'),
      ('products', 'exists (select from %1$I.coupon_applicable_products where product_id = drawn)
         or exists (select from %1$I.reserved_coupon_applicable_products where product_id = drawn)
         or exists (select from %1$I.product_slots where product_id = drawn)'),
      ('product_groups', 'false'), ('orders', 'false'), ('order_statuses', 'false')
    ) as tables (name, is_named)
  loop
    execute format('lock table %I in access exclusive mode', tab.name);
    select pg_sequence.*, relname as name, relacl into strict seq from pg_sequence join pg_class on oid = seqrelid
    where seqrelid = pg_get_serial_sequence(tab.name, 'id')::regclass;
    select relowner::regrole::text into strict owner_name from pg_class where oid = tab.name::regclass;
    execute format('create temporary table drawn_before on commit drop as select last_value, is_called from %I', seq.name);
    grants := array(
      select format('grant %s on sequence %I to %s%s', privilege_type, seq.name,
        case grantee when 0 then 'public' else grantee::regrole::text end, case when is_grantable then ' with grant option' else '' end)
      from aclexplode(seq.relacl)
    );
    -- An identity column can't have another default.
    execute format('alter table %I alter column id drop identity', tab.name);
    execute format('create sequence %I as integer increment by %s', seq.name, seq.seqincrement);
    execute format('alter sequence %I owner to %s', seq.name, owner_name);
    execute format('alter sequence %I owned by %I.id', seq.name, tab.name);
    perform setval(seq.name::regclass, last_value, is_called) from drawn_before;
    drop table drawn_before;
    foreach regrant in array grants loop
      execute regrant;
    end loop;
    -- With the rights of the owner, so that whoever may insert a row needs none on the sequence.
    execute format($function$
      create function %1$I.%2$I() returns integer
        language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
        as $body$
      declare
        drawn bigint;
        last_taken bigint;
      begin
        if not has_any_column_privilege(session_user, %3$L, 'INSERT') then
          raise insufficient_privilege using message = 'this role may not insert into ' || %3$L;
        end if;
        loop
          drawn := nextval(%4$L);
          exit when not exists (select from %1$I.%5$I where id = drawn) and not (%6$s);
          -- The last id of the block that begins here.
          select id into last_taken
          from (select id, lead(id) over (order by id) as following from %1$I.%5$I where id >= drawn) as taken
          where following is distinct from id + 1::bigint and exists (select from %1$I.%5$I where id = drawn)
          order by id limit 1;
          if last_taken - drawn > 1000 then
            perform setval(%4$L, last_taken) from %1$I.%7$I where last_value < last_taken;
          end if;
        end loop;
        return drawn;
      end $body$
    $function$, current_schema(), 'next_' || tab.name || '_id', format('%I.%I', current_schema(), tab.name),
      format('%I.%I', current_schema(), seq.name), tab.name, format(tab.is_named, current_schema()), seq.name);
    execute format('alter function %I() owner to %s', 'next_' || tab.name || '_id', owner_name);
    execute format('alter table %I alter column id set default %I()', tab.name, 'next_' || tab.name || '_id');
  end loop;
end $$;
