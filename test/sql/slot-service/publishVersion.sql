with forgotten as (delete from store_versions where version < $oldest)
insert into store_versions (version, refreshed_at, snapshot)
values ($version, statement_timestamp(), pg_current_snapshot())
returning pg_notify(own_name('store_version'), version::text)
