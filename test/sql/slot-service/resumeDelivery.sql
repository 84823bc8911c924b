update webhook_deliveries set is_active = true, failures = 0, due_at = least(due_at, clock_timestamp() + 20 * interval '1 second') where service = $service
