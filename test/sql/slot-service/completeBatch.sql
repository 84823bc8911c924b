update webhook_deliveries set sent_id = $batchEnd::bigint, batch_end = null, failures = 0, due_at = clock_timestamp()
where service = $service and sent_id = $sentId::bigint
