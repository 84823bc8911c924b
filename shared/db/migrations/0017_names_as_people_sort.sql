-- Up Migration

-- By name as people sort, whatever the collation of the database: the root collation of ICU, which every server with ICU has. Reads
-- go on while the indexes are built; only then do the old ones go, for which readers wait.
create index users_by_name_sorted on users (nullif(name, '') collate "und-x-icu" asc nulls last, id) include (name, mobile);
create index products_by_name_sorted on products (name collate "und-x-icu", id) include (name);
drop index users_by_name, products_by_name;
alter index users_by_name_sorted rename to users_by_name;
alter index products_by_name_sorted rename to products_by_name;
