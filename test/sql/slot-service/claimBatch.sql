update webhook_deliveries
set batch_end = $batchEnd::bigint, due_at = clock_timestamp() + 15 * interval '1 second'
where service = $service and sent_id = $sentId::bigint and coalesce(batch_end, $batchEnd::bigint) = $batchEnd::bigint
and due_at <= clock_timestamp()
returning true as "isClaimed"
