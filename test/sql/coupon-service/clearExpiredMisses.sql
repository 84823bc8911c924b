delete from validate_misses where key in (
  select key from validate_misses where expire < $nowMs::bigint
  order by expire limit 10 for update skip locked
)
