select version, pg_snapshot_xmax(snapshot) <= pg_snapshot_xmax(pg_current_snapshot()) as "isUsable"
from store_versions order by version desc limit 1
