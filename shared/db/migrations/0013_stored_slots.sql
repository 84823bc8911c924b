-- Up Migration

-- The content of the derived stores, a row a slot, as the newest version has it. `version` is the one that last changed the row:
-- a refresh writes only what has changed, and a replica loads only what is newer than its copy.
create table stored_slots (
  slot_id integer primary key,
  version integer not null,
  -- In epoch milliseconds, as answers show them.
  delivery_ms bigint not null,
  freeze_ms bigint not null,
  is_active boolean not null,
  is_capacity_full boolean not null,
  -- Ascending.
  product_ids integer[] not null
);
create index stored_slots_by_version on stored_slots (version);

-- The latest versions. By its id, a replica finds out whether its copy is one of them: after a recovery, another version may have
-- the same number.
alter table store_versions add column id uuid not null default gen_random_uuid();
alter table store_versions drop column content;

-- A request that names no slot: the next refresh stores all slots.
insert into store_refresh_requests default values;
