-- Up Migration

-- A business's own keys: numbers of any size, UUIDs, texts. Their checks hold for what is written from now on, so that no table is read
-- while calls wait for it. Migration 0040 has the constraints that keep the keys unique.
alter table users add column external_id text collate "C",
  add constraint users_external_id_check check (external_id ~ '^[!-~]{1,128}$') not valid,
  -- Null: the user has none, as many users may.
  alter column mobile drop not null;
alter table products add column external_id text collate "C",
  add constraint products_external_id_check check (external_id ~ '^[!-~]{1,128}$') not valid,
  add column is_retired boolean not null default false;
alter table product_groups add column external_id text collate "C",
  add constraint product_groups_external_id_check check (external_id ~ '^[!-~]{1,128}$') not valid;
alter table orders add column external_id text collate "C",
  add constraint orders_external_id_check check (external_id ~ '^[!-~]{1,128}$') not valid;
alter table staff_users add column external_id text collate "C",
  add constraint staff_users_external_id_check check (external_id ~ '^[!-~]{1,128}$') not valid;

insert into schema_parts
select 'constraint', name || part
from unnest(array['users', 'products', 'product_groups', 'orders', 'staff_users']) as name,
  unnest(array['_external_id_unique', '_external_id_check']) as part;
