update webhook_deliveries set batch_end = $batchEnd::bigint, claims = claims + 1, is_active = true, due_at = clock_timestamp() + 20 * interval '1 second'
where service = $service and sent_id = $sentId::bigint and batch_end is not distinct from $triedEnd::bigint
and (due_at <= clock_timestamp() or due_at > clock_timestamp() + 600 * interval '1 second')
returning claims
