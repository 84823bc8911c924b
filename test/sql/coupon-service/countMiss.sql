insert into validate_misses as counted (key, points, expire) values ($callerKey, 1, $nowMs::bigint + 60000)
on conflict (key) do update set
points = case when counted.expire <= $nowMs::bigint then 1 else counted.points + 1 end,
expire = case when counted.expire <= $nowMs::bigint then excluded.expire else counted.expire end
returning points as misses, (expire - $nowMs::bigint)::double precision as "msToWindowEnd"
