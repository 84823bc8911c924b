select found.*
from unnest($keys::integer[]) as asked (key), lateral (
  select id, etag, shown_bytes > $maxSize::integer as "isTooLarge",
  case when shown_bytes <= $maxSize then delivery_sequence end as "deliverySequence"
  from slots where id = asked.key::integer
  offset 0
) as found
