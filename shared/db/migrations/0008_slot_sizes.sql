-- Up Migration

-- About how many bytes a slot's own fields take in an answer, known without reading them. A sequence may have 4 MiB.
alter table slots add column shown_bytes integer not null generated always as (
  200 + octet_length(delivery_sequence::text) + 12 * cardinality(group_ids)
) stored;
