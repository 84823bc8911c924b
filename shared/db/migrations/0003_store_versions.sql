-- Up Migration

-- The derived stores, rebuilt as a whole: one row, the newest version. `snapshot` tells which
-- transactions it has seen, and so which writes it covers.
create table store_versions (
  version integer primary key,
  refreshed_at timestamptz not null,
  snapshot pg_snapshot not null,
  content json not null
);
-- Compressing the content would cost more than it saves: it is written and read once a refresh.
alter table store_versions alter column content set storage external;
