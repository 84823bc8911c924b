select id from staff_users where id = $id and disabled_at is null
