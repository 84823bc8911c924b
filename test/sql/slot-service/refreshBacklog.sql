select count(*)::integer as pending,
coalesce(extract(epoch from now() - min(requested_at)), 0)::float8 as "oldestSeconds"
from store_refresh_requests
