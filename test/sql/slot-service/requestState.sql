select wal_timeline() as "timeline",
$transaction::xid8 >= pg_snapshot_xmax(now) as "isInFuture",
exists (
  select from (select timeline, snapshot from store_versions order by version desc limit 1) as newest
  where timeline = $timeline and pg_visible_in_snapshot($transaction::xid8, snapshot)
) as "isCovered",
exists (select from store_refresh_requests) as "isPending"
from pg_current_snapshot() as now
