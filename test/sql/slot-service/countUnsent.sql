select count(*)::integer as "unsentEntries", min(at) as oldest
from (
  select *
  from audit_entries where id > (select sent_id from webhook_deliveries where service = $service)
  order by id limit 10000
) as entries
where (resource_type = any($types::text[]) or (resource_type = 'user' and starts_with(procedure, 'catalog.') = $ofImports))
