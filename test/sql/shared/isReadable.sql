select coalesce(has_table_privilege(to_regclass($table), 'SELECT'), false) as "isReadable"
