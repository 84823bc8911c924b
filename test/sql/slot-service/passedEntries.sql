select array(
  select id::text from audit_entries where id > $after::bigint order by id desc limit 10000
) as ids
