select is_shown as "isShown", shown_bytes as "shownBytes",
id, at, (extract(epoch from at) * 1000000)::bigint as "atMicros", procedure, subject, staff_id as "staffId", request_id as "requestId",
resource_type as "resourceType", resource_id as "resourceId",
case when is_shown then before::text end as before, case when is_shown then after::text end as after
from (
  select *, sum(bytes) over (order by id) as sum
  from (
    select *, case when is_shown then shown_bytes + octet_length(subject) + 400 else 0 end as bytes
    from (
      select *, (resource_type = any($types::text[]) or (resource_type = 'user' and starts_with(procedure, 'catalog.') = $ofImports)) as is_shown
      from audit_entries where id > $after::bigint and id <= $upTo::bigint order by id limit 500
    ) as found
  ) as measured
) as page
where sum <= 524288 or sum = bytes
order by id
