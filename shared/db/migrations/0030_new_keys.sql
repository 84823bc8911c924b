-- Up Migration

-- Whether a call's key has no stored answer. Fails for one that has, and with it the statement that asks. It looks the key up in the
-- index: if the table was empty when it was last vacuumed, PostgreSQL would read all of it for each key.
create function is_new_key(key bytea) returns boolean
  language plpgsql stable set enable_seqscan = off
  as $$
begin
  if exists (select from idempotency_keys where id = key) then
    raise exception 'the idempotency key is known' using errcode = 'unique_violation', constraint = 'idempotency_keys_pkey';
  end if;
  return true;
end $$;
