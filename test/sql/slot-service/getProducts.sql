select products.id, products.name, sum(octet_length(products.name) + coalesce(octet_length(array_to_string(products.images, '')), 0)) over () > 67108864 as "areTooLarge",
case when not sum(octet_length(products.name) + coalesce(octet_length(array_to_string(products.images, '')), 0)) over () > 67108864 then array_to_json(products.images) end as images from products
where id = any($productIds::integer[])
order by products.name collate "und-x-icu", products.id
