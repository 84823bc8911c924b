-- Up Migration

-- Logical replication, such as an upgrade of PostgreSQL or a feed of changes, has to identify rows that are updated or deleted. All
-- other tables have a primary key or a unique index for that.
alter table audit_retention replica identity full;
