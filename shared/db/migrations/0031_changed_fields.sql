-- Up Migration

-- The fields of a record that differ, for its audit entry. Equal fields and null values are left out. Of a list of more than 100
-- ids, `after` has only the added and removed ids, and `before` has nothing. PostgreSQL merges this into the statement that calls it.
create function changed_fields(old json, new json) returns table (before json, after json)
  language sql stable
begin atomic
  select coalesce(json_object_agg(key, had) filter (where json_typeof(had) <> 'null' and ids is null), '{}'),
    coalesce(json_object_agg(key, coalesce(ids, has)) filter (where json_typeof(has) <> 'null' or ids is not null), '{}')
  -- Side by side, each record is parsed once. Looking fields up by name would parse it once for each.
  from rows from (json_each(old), json_each(new)) as fields (key, had, same_key, has),
    lateral (
      -- 101 ids take more than 200 characters. Most fields are spared the call.
      select case when greatest(octet_length(had::text), octet_length(has::text)) > 200 then changed_ids(had, has) end as ids
      offset 0
    ) as changed
  where has::text is distinct from had::text;
end;
