select relname as name, pg_total_relation_size(oid)::float8 as value
from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace
