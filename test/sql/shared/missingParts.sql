select kind || ' ' || name as part
from (
  select kind, name from schema_parts
  except all select 'constraint', conname from pg_constraint join pg_class on pg_class.oid = conrelid
  where relnamespace = current_schema()::regnamespace and starts_with(conname::text, relname || '_')
  except all select 'index', relname from pg_index join pg_class on oid = indexrelid
  where relnamespace = current_schema()::regnamespace and indisvalid
  except all select 'trigger', relname || '.' || tgname from pg_trigger join pg_class on pg_class.oid = tgrelid
  where relnamespace = current_schema()::regnamespace and tgenabled in ('O', 'A')
  except all select 'grant', privilege || ' on ' || relname
  from pg_class, unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE']) as privilege
  where relnamespace = current_schema()::regnamespace and relkind = 'r' and case
  when relname = 'audit_entries' and privilege = 'INSERT' then has_any_column_privilege(oid, privilege)
  else has_table_privilege(oid, privilege) end
  except all select 'grant', 'EXECUTE on ' || proname from pg_proc
  where pronamespace = current_schema()::regnamespace and has_function_privilege(oid, 'EXECUTE')
  union all select 'the rows of', 'schema_parts' where not exists (select from schema_parts)
) as missing
order by 1
