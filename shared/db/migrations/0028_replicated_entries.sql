-- Up Migration

-- Logical replication, such as an upgrade of PostgreSQL or a feed of changes, has to identify rows that are updated or deleted. All
-- other tables have a primary key or a unique index for that. The whole row can't identify an entry: JSON has no equality.
alter table audit_retention replica identity full;
create unique index audit_entries_pkey on audit_entries (id);

-- Without `hashtext`, an internal function whose values another version of PostgreSQL may change, while pg_upgrade keeps the index.
-- A subject may be too long for an index.
create index audit_entries_by_subject_prefix on audit_entries (resource_type, left(subject, 64) collate "C", at desc, id desc);
create index audit_entries_by_procedure_name on audit_entries (resource_type, procedure collate "C", at desc, id desc);

-- Reads go on while the indexes are built. Only then comes what readers wait for.
alter table audit_entries add primary key using index audit_entries_pkey;
drop index audit_entries_by_subject, audit_entries_by_procedure;
alter index audit_entries_by_subject_prefix rename to audit_entries_by_subject;
alter index audit_entries_by_procedure_name rename to audit_entries_by_procedure;
