update webhook_deliveries
set failures = failures + 1,
due_at = clock_timestamp() + least(power(2, least(failures, 9)), 300) * interval '1 second'
where service = $service and claims = $claims::bigint and batch_end = $batchEnd::bigint
returning failures
