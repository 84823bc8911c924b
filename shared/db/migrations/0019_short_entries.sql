-- Up Migration

-- What an audit entry holds of a list of ids that has more than 100 of them, before a change or after it: those that were added and
-- removed. Null for a shorter list, and for what is no list of ids.
create function changed_ids(old json, new json) returns json
  language plpgsql immutable
  as $$
declare
  had integer[];
  has integer[];
begin
  if json_typeof(coalesce(new -> 0, old -> 0)) is distinct from 'number' then
    return null;
  end if;
  -- [1,2] to {1,2}: much faster than id by id.
  had := coalesce(translate(nullif(old::text, 'null'), '[]', '{}'), '{}');
  has := coalesce(translate(nullif(new::text, 'null'), '[]', '{}'), '{}');
  if greatest(cardinality(had), cardinality(has)) <= 100 then
    return null;
  end if;
  return json_build_object(
    'added', array(select unnest(has) except select unnest(had) order by 1),
    'removed', array(select unnest(had) except select unnest(has) order by 1)
  );
end $$;

-- Undoes a statement whose row another transaction took at the last moment. Unlike a violation of a unique index, it
-- leaves no value in the server's log.
create function refuse_lost_race() returns void
  language plpgsql volatile
  as $$
begin
  raise exception 'a lost race' using errcode = 'serialization_failure';
end $$;
