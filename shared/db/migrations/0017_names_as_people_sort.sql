-- Up Migration

-- By name as people sort, whatever the collation of the database: the root collation of ICU, which every server with ICU has.
drop index users_by_name;
create index users_by_name on users (nullif(name, '') collate "und-x-icu" asc nulls last, id) include (name, mobile);
drop index products_by_name;
create index products_by_name on products (name collate "und-x-icu", id) include (name);
