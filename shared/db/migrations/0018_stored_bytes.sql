-- Up Migration

-- About how many bytes a caller has had stored in an hour, over all replicas. `caller` is the SHA-256 of the subject.
-- Unlogged, because nothing waits for it: a crash of the server loses the counts of one hour.
create unlogged table stored_bytes (
  caller text,
  hour timestamptz,
  bytes bigint not null,
  primary key (hour, caller)
);
