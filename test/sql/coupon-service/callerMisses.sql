select coalesce(max(points), 0) as misses, (max(expire) - $nowMs::bigint)::double precision as "msToWindowEnd"
from (select points, expire from validate_misses where key = $callerKey offset 0) as counted
where expire > $nowMs::bigint
