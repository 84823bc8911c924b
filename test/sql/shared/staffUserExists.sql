select id from staff_users where id = $id::integer and disabled_at is null
union all select id from staff_users where external_id = $externalId::text and disabled_at is null
