-- Up Migration

-- Whoever may execute a function of triggers may put it on a temporary table whose column has a type of its own. The cast of that type
-- would run with the rights of the owner. Triggers that are there need nobody's right.
revoke execute on function count_links, keep_freed_ids from public;

-- When a coupon is deleted, PostgreSQL updates reserved coupons with the rights of the owner, in the session of whoever deletes. Nothing of
-- that session may stand for what an index names.
alter function search_grams set search_path = pg_catalog, pg_temp;

do $$
declare
  tab record;
begin
  for tab in
    select * from (values
      ('users', 'exists (select from %1$I.coupon_applicable_users where user_id = drawn)
         or exists (select from %1$I.reserved_coupons where redeemed_by = drawn)
         or exists (select from %1$I.redemptions where user_id = drawn)
         or exists (select from %1$I.slot_bookings where user_id = drawn)'),
      ('products', 'exists (select from %1$I.coupon_applicable_products where product_id = drawn)
         or exists (select from %1$I.reserved_coupon_applicable_products where product_id = drawn)
         or exists (select from %1$I.product_slots where product_id = drawn)'),
      ('product_groups', 'false'), ('orders', 'false'), ('order_statuses', 'false')
    ) as tables (name, is_named)
  loop
    -- As migrations 0027, 0035 and 0041 have it, but it draws each id of a block. To set the sequence would take back what others draw at
    -- the same time. The order of the block comes from the indexes, up to a bound: without one, PostgreSQL sorts all ids that follow.
    execute format($function$
      create or replace function %1$I.%2$I() returns integer
        language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
        as $body$
      declare
        drawn integer;
        last_taken integer;
      begin
        if not has_any_column_privilege(session_user, %3$L, 'INSERT') then
          raise insufficient_privilege using message = 'this role may not insert into ' || %3$L;
        end if;
        loop
          drawn := nextval(%4$L);
          continue when drawn <= last_taken;
          exit when not exists (select from %1$I.%5$I where id = drawn)
            and not exists (select from %1$I.freed_ids where of_table = %5$L and id = drawn) and not (%6$s);
          -- The last id of the block that begins here.
          select id into last_taken
          from (
            select id, lead(id) over (order by id) as following
            from (
              select drawn as id
              union all (select id from %1$I.%5$I where id >= drawn order by id limit 100000)
              union all (select id from %1$I.freed_ids where of_table = %5$L and id >= drawn order by id limit 100000)
            ) as ids
          ) as taken
          where coalesce(following > id + 1::bigint, true)
          order by id limit 1;
        end loop;
        return drawn;
      end $body$
    $function$, current_schema(), 'next_' || tab.name || '_id', format('%I.%I', current_schema(), tab.name),
      pg_get_serial_sequence(format('%I.%I', current_schema(), tab.name), 'id'), tab.name, format(tab.is_named, current_schema()));
    -- The load of another system may run as the triggers of replication do, for which other triggers do not fire.
    if tab.name <> 'order_statuses' then
      execute format('alter table %I enable always trigger freed_ids_kept_on_delete', tab.name);
      execute format('alter table %I enable always trigger freed_ids_kept_on_truncate', tab.name);
    end if;
  end loop;
end $$;
