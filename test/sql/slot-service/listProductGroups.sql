select id, name from (select id, name from product_groups limit 10000 + 1) as groups order by name collate "und-x-icu", id
