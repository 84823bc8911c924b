select id, coalesce(nullif(name, ''), 'Unknown') as name, coalesce(mobile, '') as mobile
from (select shown.* from unnest(current_setting('found.ids')::integer[]) with ordinality as ids (id, place), lateral (select * from users where id = ids.id offset 0) as shown) as users
order by nullif(name, '') collate "und-x-icu" asc nulls last, id
limit $limit::integer offset $offset::integer
