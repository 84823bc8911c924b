-- Up Migration

-- Some records name others in lists that no index covers: coupons and snippets their products, slots their groups, delivery sequences
-- users and orders. So an id is never drawn again, also one that another system chose: it is kept when its row is deleted, unless the
-- sequence is past it.
create table freed_ids (
  of_table text not null,
  id integer not null,
  primary key (of_table, id)
);

do $$
declare
  tab text;
  definition text;
  taken text;
  freed text;
begin
  execute format($function$
    create function keep_freed_ids() returns trigger
      language plpgsql security definer set search_path = pg_catalog, pg_temp
      as $body$
    declare
      last_drawn bigint := coalesce(
        pg_sequence_last_value(pg_get_serial_sequence(format('%%I.%%I', tg_table_schema, tg_table_name), 'id')), 0
      );
    begin
      if tg_op = 'TRUNCATE' then
        execute format('insert into %1$I.freed_ids select $1, id from %%I.%%I where id > $2 on conflict do nothing',
          tg_table_schema, tg_table_name) using tg_table_name, last_drawn;
      else
        insert into %1$I.freed_ids select tg_table_name, id from deleted where id > last_drawn on conflict do nothing;
      end if;
      return null;
    end $body$
  $function$, current_schema());
  foreach tab in array array['users', 'products', 'product_groups', 'orders'] loop
    execute format('create trigger freed_ids_kept_on_delete after delete on %I
      referencing old table as deleted for each statement execute function keep_freed_ids()', tab);
    execute format('create trigger freed_ids_kept_on_truncate before truncate on %I
      for each statement execute function keep_freed_ids()', tab);
    definition := pg_get_functiondef(format('next_%s_id', tab)::regproc);
    taken := format('from %I.%I where id', current_schema(), tab);
    freed := format('from %I.freed_ids where of_table = %L and id', current_schema(), tab);
    if strpos(definition, taken || ' = drawn)') = 0 or strpos(definition, taken || ' >= drawn)') = 0 then
      raise 'next_%_id is not as migration 0027 has made it', tab;
    end if;
    -- In a block of ids, one may be both: freed, and taken again.
    definition := replace(definition, taken || ' = drawn)', taken || ' = drawn union all select ' || freed || ' = drawn)');
    definition := replace(
      definition, format('lead(id) over (order by id) as following %s >= drawn)', taken),
      format('lead(id) over (order by id) as following from (select id %s >= drawn union all select id %s >= drawn) as ids)', taken, freed)
    );
    execute replace(definition, 'following is distinct from id + 1::bigint', 'coalesce(following > id + 1::bigint, true)');
    -- The function runs with the rights of the owner of its table.
    execute (
      select format('grant select on freed_ids to %s', relowner::regrole) from pg_class where oid = tab::regclass
    );
  end loop;
end $$;

insert into schema_parts
select 'constraint', 'freed_ids_pkey'
union all select 'trigger', tab || '.freed_ids_kept_on_' || event
from unnest(array['users', 'products', 'product_groups', 'orders']) as tab, unnest(array['delete', 'truncate']) as event
union all select 'grant', 'SELECT on freed_ids';
