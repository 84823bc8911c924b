select products.id, products.name, sum(octet_length(products.name) + coalesce(octet_length(array_to_string(products.images, '')), 0)) over () > 67108864 as "areTooLarge",
case when not sum(octet_length(products.name) + coalesce(octet_length(array_to_string(products.images, '')), 0)) over () > 67108864 then array_to_json(products.images) end as images
from (
  select id from (select id, name from products where ($includeRetired::boolean or not is_retired)) as products
  order by products.name collate "und-x-icu", products.id
  limit $limit::integer offset $offset::integer
) as page, lateral (select * from products where id = page.id offset 0) as products
order by products.name collate "und-x-icu", products.id
