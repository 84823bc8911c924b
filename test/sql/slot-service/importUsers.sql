with given as materialized (
  select *, ordinality as place from rows from (json_to_recordset($rows::json) as (external_id text, name text, email text, mobile text)) with ordinality as given
),
wanted as materialized (
  with recursive known as materialized (
    select given.*, ids.id, holder.id as holder_id, is_held,
    given.mobile is not null and row_number() over (partition by given.mobile order by is_held, place) > 1 as is_repeated
    from given
    left join users as own on own.external_id = given.external_id
    left join users as holder on holder.mobile = given.mobile,
    lateral (
      select case when own.id is not null then own.id when holder.external_id is null then holder.id end as id
    ) as ids,
    lateral (select holder.id is not null and holder.id is distinct from ids.id as is_held) as held
  ),
  refused (external_id, id) as (
    select external_id, id from known
    where is_repeated or is_held and holder_id not in (select id from known where id is not null)
    union
    select known.external_id, known.id from refused join known on is_held and holder_id = refused.id
  )
  select known.*, is_held as is_passed, external_id in (select external_id from refused) as is_refused from known),
matched as materialized (
  select wanted.*, seen.xmin as version,
  case when (seen.external_id, seen.name, seen.email, seen.mobile) is distinct from (wanted.external_id, wanted.name, wanted.email, wanted.mobile) or false
  then json_build_object('externalId', seen.external_id, 'name', seen.name, 'email', seen.email, 'mobile', seen.mobile) end as old
  from wanted left join users as seen on seen.id = wanted.id
),
verdict as materialized (
  select not bool_or(is_refused or matched.is_passed and not $mayPass::boolean) as may_write from matched
),
created as (
  insert into users (external_id, name, email, mobile)
  select matched.external_id, matched.name, matched.email, case when not matched.is_passed then matched.mobile end from matched, verdict where case when may_write and id is null then $keyId::bytea is null or is_new_key($keyId) else false end
  -- Another call may create the same records, in the same order: so neither waits for the other in a circle.
  order by external_id
  returning id, external_id
),
made as (select created.id, matched.external_id, matched.name, matched.email, matched.mobile from created join matched using (external_id)),
locked as materialized (
  select users.id from users join matched on matched.id = users.id, verdict
  where may_write and old is not null
  order by users.id for update of users
),
changed as (
  update users set (external_id, name, email, mobile) = row(matched.external_id, matched.name, matched.email, case when not matched.is_passed then matched.mobile end)
  from matched join locked using (id)
  where users.id = matched.id and users.xmin = version
  returning users.id, old, json_build_object('externalId', matched.external_id, 'name', matched.name, 'email', matched.email, 'mobile', matched.mobile) as new
),
user_entry as (
  insert into audit_entries (
    procedure, subject, staff_id, request_id, resource_type, resource_id, before, after, shown_bytes
  )
  select ($actor::text[])[1], ($actor::text[])[2], case when ($actor::text[])[3] is null and ($actor::text[])[5] is not null then (
    select id from staff_users where external_id = ($actor::text[])[5] and disabled_at is null
  ) else ($actor::text[])[3]::integer end, ($actor::text[])[4],
  'user', id, before, after, coalesce(octet_length(before::text), 0) + octet_length(after::text)
  from (select id, null::json as before, json_strip_nulls(json_build_object('externalId', made.external_id, 'name', made.name, 'email', made.email, 'mobile', made.mobile)) as after from made
    union all select id, before, after from (select id, old, new from changed) as records, lateral changed_fields(old, new) offset 0) as changes
)
select matched.external_id as "externalId", coalesce(matched.id, created.id, 0) as id, is_refused as "isRefused",
matched.is_passed as "isPassed",
case when matched.id is null then 1 when old is null then 3
else 2 end as outcome,
case when may_write and (select count(*) from changed) < (select count(*) from matched where id is not null and old is not null)
then refuse_lost_race() end as "lostRace"
from verdict, matched left join created using (external_id)
order by place
