with copies as (
  select * from unnest($sourceIds::integer[], $dates::text[]) with ordinality as given (source_id, local_date, place)
),
sources as materialized (
  select id, slot_id, snippet_code, product_ids from vendor_snippets where slot_id = any($sourceIds::integer[])
),
unsound as (
  select distinct sources.id
  from sources, unnest(product_ids) as product_id left join products on products.id = product_id
  where products.id is null
),
named as materialized (
  select place, sources.id, normalize(format($nameFormat, snippet_code, local_date)) as name, unsound.id is not null as has_unknown
  from copies join sources on slot_id = source_id left join unsound on unsound.id = sources.id
),
judged as (
  select *, char_length(name) > 128 as is_long,
  row_number() over (partition by name order by place, id) > 1
  or exists (select from vendor_snippets where snippet_code = name) as is_taken
  from named
)
select name, is_long as "isLong", has_unknown as "hasUnknownProducts"
from judged where is_long or has_unknown or is_taken
order by place, id limit 1
