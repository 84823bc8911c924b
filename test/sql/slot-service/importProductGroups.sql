with given as materialized (
  select *, ordinality as place from rows from (json_to_recordset($rows::json) as (external_id text, name text)) with ordinality as given
),
wanted as materialized (select given.*, product_groups.id, false as is_refused from given left join product_groups using (external_id)),
matched as materialized (
  select wanted.*, seen.xmin as version,
  case when (seen.external_id, seen.name) is distinct from (wanted.external_id, wanted.name) or false
  then json_build_object('externalId', seen.external_id, 'name', seen.name) end as old
  from wanted left join product_groups as seen on seen.id = wanted.id
),
verdict as materialized (
  select not bool_or(is_refused or false and not $mayPass::boolean) as may_write from matched
),
created as (
  insert into product_groups (external_id, name)
  select matched.external_id, matched.name from matched, verdict where case when may_write and id is null then $keyId::bytea is null or is_new_key($keyId) else false end
  -- Another call may create the same records, in the same order: so neither waits for the other in a circle.
  order by external_id
  returning id, external_id
),
made as (select created.id, matched.external_id, matched.name from created join matched using (external_id)),
locked as materialized (
  select product_groups.id from product_groups join matched on matched.id = product_groups.id, verdict
  where may_write and old is not null
  order by product_groups.id for no key update of product_groups
),
changed as (
  update product_groups set (external_id, name) = row(matched.external_id, matched.name)
  from matched join locked using (id)
  where product_groups.id = matched.id and product_groups.xmin = version
  returning product_groups.id, old, json_build_object('externalId', matched.external_id, 'name', matched.name) as new
),
product_group_entry as (
  insert into audit_entries (
    procedure, subject, staff_id, request_id, resource_type, resource_id, before, after, shown_bytes
  )
  select ($actor::text[])[1], ($actor::text[])[2], case when ($actor::text[])[3] is null and ($actor::text[])[5] is not null then (
    select id from staff_users where external_id = ($actor::text[])[5] and disabled_at is null
  ) else ($actor::text[])[3]::integer end, ($actor::text[])[4],
  'product_group', id, before, after, coalesce(octet_length(before::text), 0) + octet_length(after::text)
  from (select id, null::json as before, json_strip_nulls(json_build_object('externalId', made.external_id, 'name', made.name)) as after from made
    union all select id, before, after from (select id, old, new from changed) as records, lateral changed_fields(old, new) offset 0) as changes
)
select matched.external_id as "externalId", coalesce(matched.id, created.id, 0) as id, is_refused as "isRefused",
false as "isPassed",
case when matched.id is null then 1 when old is null then 3
else 2 end as outcome,
case when may_write and (select count(*) from changed) < (select count(*) from matched where id is not null and old is not null)
then refuse_lost_race() end as "lostRace"
from verdict, matched left join created using (external_id)
order by place
