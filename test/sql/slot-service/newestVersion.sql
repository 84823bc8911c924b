select id, version, refreshed_at as "refreshedAt", timeline, snapshot::text as snapshot,
exists (select from store_versions where id = $loadedId::uuid) as "isAfterLoaded",
extract(epoch from now())::float8 * 1000 - 86400000 as "fromMs"
from store_versions order by version desc limit 1
