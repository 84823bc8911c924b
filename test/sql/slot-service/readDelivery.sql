select sent_id::float8 as "sentId", batch_end::float8 as "batchEnd", (due_at <= clock_timestamp() or due_at > clock_timestamp() + 600 * interval '1 second') as "isDue"
from webhook_deliveries where service = $service
