-- Up Migration

-- A business's own keys: numbers of any size, UUIDs, texts.
alter table users add column external_id text collate "C",
  add constraint users_external_id_unique unique (external_id),
  add constraint users_external_id_check check (external_id ~ '^[!-~]{1,128}$'),
  -- Null: the user has none, as many users may.
  alter column mobile drop not null;
alter table products add column external_id text collate "C",
  add constraint products_external_id_unique unique (external_id),
  add constraint products_external_id_check check (external_id ~ '^[!-~]{1,128}$'),
  add column is_retired boolean not null default false;
alter table product_groups add column external_id text collate "C",
  add constraint product_groups_external_id_unique unique (external_id),
  add constraint product_groups_external_id_check check (external_id ~ '^[!-~]{1,128}$');
alter table orders add column external_id text collate "C",
  add constraint orders_external_id_unique unique (external_id),
  add constraint orders_external_id_check check (external_id ~ '^[!-~]{1,128}$');
alter table staff_users add column external_id text collate "C",
  add constraint staff_users_external_id_unique unique (external_id),
  add constraint staff_users_external_id_check check (external_id ~ '^[!-~]{1,128}$');

insert into schema_parts
select 'constraint', name || part
from unnest(array['users', 'products', 'product_groups', 'orders', 'staff_users']) as name,
  unnest(array['_external_id_unique', '_external_id_check']) as part;

-- As migrations 0002 and 0017 have them, but with users who have no mobile, and with what leaves retired products out. Reads go on
-- while the indexes are built; only then do the old ones go.
create index users_search_anew on users using gin (search_grams(coalesce(name, '') || E'\n' || coalesce(mobile, ''), 1));
create index products_by_name_anew on products (name collate "und-x-icu", id) include (name, is_retired);
drop index users_search, products_by_name;
alter index users_search_anew rename to users_search;
alter index products_by_name_anew rename to products_by_name;

-- Both services write users. Each lists the changes of its own procedures.
create index audit_entries_of_users on audit_entries (starts_with(procedure, 'catalog.'), at desc, id desc)
  where resource_type = 'user';
insert into schema_parts values ('index', 'audit_entries_of_users');
