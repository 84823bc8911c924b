-- Up Migration

-- Staff page through users by name. With all that a page shows in the index, the rows before it are skipped without being read.
create index users_by_name_covering on users (nullif(name, '') asc nulls last, id) include (name, mobile);
drop index users_by_name;
alter index users_by_name_covering rename to users_by_name;
