with sources as materialized (
  select id, xmin, delivery_time, freeze_time, group_ids, capacity, window_minutes from slots where id = any($slotIds::integer[])
  order by delivery_time, id limit 1001
),
associated as (
  select id, count(*)::integer as products
  from (
    select id from sources, lateral (select from product_slots where slot_id = sources.id offset 0) as products
    limit 300001
  ) as products
  group by id
),
counted as (
  select sources.id, count(*)::integer as snippets
  from sources join vendor_snippets on slot_id = sources.id group by sources.id
),
sized as materialized (
  select *, sum(pg_column_size(product_ids)) over () > 1680000 as are_too_large
  from (
    select sources.id, product_ids, valid_till
    from sources, lateral (select * from vendor_snippets where slot_id = sources.id offset 0) as snippets
    where $copiesSnippets::boolean
    limit 20001
  ) as snippets
),
copied as (
  select id,
  sum(case when are_too_large then 300001 else cardinality(product_ids) end)::float8 as products,
  json_agg(distinct (extract(epoch from valid_till) * 1000000)::bigint::text) filter (where valid_till is not null) as valid_tills
  from sized group by id
)
select id, xmin::text as seen, (extract(epoch from delivery_time) * 1000000)::bigint as delivery, (extract(epoch from freeze_time) * 1000000)::bigint as freeze,
case when (select sum(pg_column_size(group_ids)) from sources) <= 824000 then to_json(group_ids) end as "groupIds",
capacity, window_minutes as "windowMinutes",
coalesce(associated.products, 0) as products, coalesce(snippets, 0) as snippets,
coalesce(copied.products, 0) as "snippetProducts", coalesce(valid_tills, '[]') as "validTills"
from sources left join associated using (id) left join counted using (id) left join copied using (id)
order by delivery_time, id
