select id, name, disabled_at is not null as "isDisabled"
from (select * from staff_users limit 10000 + 1) as staff
order by name collate "und-x-icu", id
