select sequencename as name, coalesce(last_value, 0)::float8 / max_value as value
from pg_sequences where schemaname = current_schema() and not cycle
