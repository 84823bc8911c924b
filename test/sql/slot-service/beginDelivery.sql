insert into webhook_deliveries (service, sent_id) values ($service, $sentId::bigint)
on conflict (service) do update
set is_active = true, failures = 0,
due_at = least(webhook_deliveries.due_at, clock_timestamp() + 15 * interval '1 second')
