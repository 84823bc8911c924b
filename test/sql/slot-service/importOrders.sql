with given as materialized (
  select *, ordinality as place from rows from (json_to_recordset($rows::json) as (external_id text, user_external_id text, total_amount numeric)) with ordinality as given
),
wanted as materialized (
  with asked as materialized (
    select given.external_id, users.id as user_id, given.total_amount, place, orders.id,
    given.user_external_id is not null and users.id is null as is_refused,
    orders.user_id is distinct from users.id as names_anew
    from given
    left join orders on orders.external_id = given.external_id
    left join users on users.external_id = given.user_external_id
  ),
  buyers as materialized (
    select id from users where id in (select user_id from asked where names_anew) order by id for key share
  )
  select asked.* from asked left join buyers on buyers.id = user_id),
matched as materialized (
  select wanted.*, seen.xmin as version,
  case when (seen.external_id, seen.user_id, seen.total_amount) is distinct from (wanted.external_id, wanted.user_id, wanted.total_amount) or not exists (select from order_statuses where order_id = seen.id)
  then json_build_object('externalId', seen.external_id, 'userId', seen.user_id, 'totalAmount', seen.total_amount::text,
    'orderStatus', case when exists (select from order_statuses where order_id = seen.id) then json_build_object('orderId', seen.id) end) end as old
  from wanted left join orders as seen on seen.id = wanted.id
),
verdict as materialized (
  select not bool_or(is_refused or false and not $mayPass::boolean) as may_write from matched
),
created as (
  insert into orders (external_id, user_id, total_amount)
  select matched.external_id, matched.user_id, matched.total_amount from matched, verdict where case when may_write and id is null then $keyId::bytea is null or is_new_key($keyId) else false end
  -- Another call may create the same records, in the same order: so neither waits for the other in a circle.
  order by external_id
  returning id, external_id
),
made as (select created.id, matched.external_id, matched.user_id, matched.total_amount from created join matched using (external_id)),
locked as materialized (
  select orders.id from orders join matched on matched.id = orders.id, verdict
  where may_write and old is not null
  order by orders.id for no key update of orders
),
changed as (
  update orders set (external_id, user_id, total_amount) = row(matched.external_id, matched.user_id, matched.total_amount)
  from matched join locked using (id)
  where orders.id = matched.id and orders.xmin = version
  returning orders.id, old, json_build_object('externalId', matched.external_id, 'userId', matched.user_id, 'totalAmount', matched.total_amount::text,
    'orderStatus', case when true then json_build_object('orderId', matched.id) end) as new
),
statuses as (
  insert into order_statuses (order_id)
  select id from created union all select id from changed where not exists (select from order_statuses where order_id = changed.id)
),
order_entry as (
  insert into audit_entries (
    procedure, subject, staff_id, request_id, resource_type, resource_id, before, after, shown_bytes
  )
  select ($actor::text[])[1], ($actor::text[])[2], case when ($actor::text[])[3] is null and ($actor::text[])[5] is not null then (
    select id from staff_users where external_id = ($actor::text[])[5] and disabled_at is null
  ) else ($actor::text[])[3]::integer end, ($actor::text[])[4],
  'order', id, before, after, coalesce(octet_length(before::text), 0) + octet_length(after::text)
  from (select id, null::json as before, json_strip_nulls(json_build_object('externalId', made.external_id, 'userId', made.user_id, 'totalAmount', made.total_amount::text,
        'orderStatus', case when true then json_build_object('orderId', made.id) end)) as after from made
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
