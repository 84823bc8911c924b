with seen as (select id, delivery_sequence, etag from slots where id = $id for no key update),
change as materialized (
  select *, before::text is distinct from after::text as differs from (select id, json_build_object('deliverySequence', delivery_sequence) as before,
    json_build_object('deliverySequence', $deliverySequence::jsonb) as after
    from seen where ($etag = '' or seen.etag::text = $etag) offset 0) as changes
),
written as (
  update slots set delivery_sequence = $deliverySequence, etag = default
  from change where slots.id = change.id and differs
  returning slots.id, slots.delivery_sequence, slots.etag
),
slot_entry as (
  insert into audit_entries (
    procedure, subject, staff_id, request_id, resource_type, resource_id, before, after, shown_bytes
  )
  select ($actor::text[])[1], ($actor::text[])[2], case when ($actor::text[])[3] is null and ($actor::text[])[5] is not null then (
    select id from staff_users where external_id = ($actor::text[])[5] and disabled_at is null
  ) else ($actor::text[])[3]::integer end, ($actor::text[])[4],
  'slot', id, before, after, coalesce(octet_length(before::text), 0) + octet_length(after::text)
  from (select id, before, after from change join written using (id) offset 0) as changes
),
kept as (
  select * from written
  union all select seen.* from seen join change using (id) where not differs
),
notified as (
  select pg_notify(own_name('delivery_sequence'), json_build_object('slotId', id, 'updateId', $updateId::text)::text)
  from kept where $updateId is not null
)
select kept.delivery_sequence as "deliverySequence", kept.etag, (select count(*) from notified)
from seen left join kept on true
