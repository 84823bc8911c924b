select id, coalesce(nullif(name, ''), 'Unknown') as name, coalesce(mobile, '') as mobile
from (select * from users) as users
order by nullif(name, '') collate "und-x-icu" asc nulls last, id
limit $limit::integer offset $offset::integer
