select id, etag, shown_bytes > $maxSize::integer as "isTooLarge",
case when shown_bytes <= $maxSize then delivery_sequence end as "deliverySequence"
from slots where id = $key::integer
