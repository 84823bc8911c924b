-- Up Migration

-- How many links a coupon has of each kind. Lists show the first of them, and their number.
create table coupon_link_counts (
  coupon_id integer references coupons on delete cascade,
  kind text collate "C",
  count integer not null,
  primary key (coupon_id, kind)
);

-- Counts whoever changes the links, once for each statement. The argument is the kind. It has the rights of the owner, so that whoever
-- may change links needs none on the counts: services of the release before go on.
do $$
begin
  execute format($function$
    create function count_links() returns trigger
      language plpgsql security definer set search_path = pg_catalog, pg_temp
      as $body$
    begin
      if tg_op = 'TRUNCATE' then
        update %1$I.coupon_link_counts set count = 0 where kind = tg_argv[0];
      end if;
      -- An update, because a coupon that is deleted has no count any more.
      if tg_op in ('DELETE', 'UPDATE') then
        update %1$I.coupon_link_counts as counted set count = counted.count - gone.count
        from (select coupon_id, count(*) from old_rows group by coupon_id) as gone
        where counted.coupon_id = gone.coupon_id and kind = tg_argv[0];
      end if;
      if tg_op in ('INSERT', 'UPDATE') then
        insert into %1$I.coupon_link_counts as counted (coupon_id, kind, count)
        select coupon_id, tg_argv[0], count(*) from new_rows group by coupon_id order by coupon_id
        on conflict (coupon_id, kind) do update set count = counted.count + excluded.count;
      end if;
      return null;
    end $body$
  $function$, current_schema());
end $$;

create trigger new_links_counted after insert on coupon_applicable_users
  referencing new table as new_rows for each statement execute function count_links('users');
create trigger changed_links_counted after update on coupon_applicable_users
  referencing old table as old_rows new table as new_rows for each statement execute function count_links('users');
create trigger deleted_links_counted after delete on coupon_applicable_users
  referencing old table as old_rows for each statement execute function count_links('users');
create trigger truncated_links_counted after truncate on coupon_applicable_users
  for each statement execute function count_links('users');
create trigger new_links_counted after insert on coupon_applicable_products
  referencing new table as new_rows for each statement execute function count_links('products');
create trigger changed_links_counted after update on coupon_applicable_products
  referencing old table as old_rows new table as new_rows for each statement execute function count_links('products');
create trigger deleted_links_counted after delete on coupon_applicable_products
  referencing old table as old_rows for each statement execute function count_links('products');
create trigger truncated_links_counted after truncate on coupon_applicable_products
  for each statement execute function count_links('products');

-- Whoever changes coupons or their links waits meanwhile: some two seconds for 1,000,000 links of each kind. Reads go on.
insert into coupon_link_counts
select coupon_id, 'users', count(*) from coupon_applicable_users group by coupon_id
union all select coupon_id, 'products', count(*) from coupon_applicable_products group by coupon_id;
