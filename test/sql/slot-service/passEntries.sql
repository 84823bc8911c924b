update webhook_deliveries set sent_id = $upTo::bigint, batch_end = nullif(batch_end, $upTo::bigint)
where service = $service and sent_id = $sentId::bigint and batch_end is not distinct from $batchEnd::bigint and (due_at <= clock_timestamp() or due_at > clock_timestamp() + 600 * interval '1 second')
