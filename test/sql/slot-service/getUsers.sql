select id, coalesce(nullif(users.name, ''), 'Unknown') as name, coalesce(mobile, '') as mobile from users
where id = any($userIds::integer[])
order by nullif(users.name, '') collate "und-x-icu" asc nulls last, id
