update webhook_deliveries set sent_id = batch_end, batch_end = null, failures = 0, due_at = clock_timestamp()
where service = $service and claims = $claims::bigint and batch_end = $batchEnd::bigint
