with seen as materialized (
  select id from coupons
  where batch_id = $id and not is_invalidated and exists (select from coupon_batches where id = $id)
  order by id for no key update
),
written as (
  update coupons set is_invalidated = true, etag = default from seen where coupons.id = seen.id
  returning coupons.id
),
ended as materialized (select count(*)::integer as count from written),
batch as materialized (
  select coupon_batches.*, ended.count as ended
  from ended, coupon_batches where coupon_batches.id = $id for no key update of coupon_batches
),
coupon_batch_entry as (
  insert into audit_entries (
    procedure, subject, staff_id, request_id, resource_type, resource_id, before, after, shown_bytes
  )
  select ($actor::text[])[1], ($actor::text[])[2], case when ($actor::text[])[3] is null and ($actor::text[])[5] is not null then (
    select id from staff_users where external_id = ($actor::text[])[5] and disabled_at is null
  ) else ($actor::text[])[3]::integer end, ($actor::text[])[4],
  'coupon_batch', id, before, after, coalesce(octet_length(before::text), 0) + octet_length(after::text)
  from (select id, json_build_object('invalidated', invalidated) as before,
    json_build_object('invalidated', invalidated + ended) as after
    from batch where ended > 0 offset 0) as changes
)
select
coupon_batches.id, coupon_batches.name, coupon_batches.count, coupon_batches.invalidated,
coupon_batches.created_by as "createdBy", coupon_batches.created_at as "createdAt", ended
from (
  select id, name, count, invalidated + ended as invalidated, created_by, created_at, ended from batch
) as coupon_batches
