select sent_id::float8 as "sentId", batch_end::float8 as "batchEnd", due_at <= clock_timestamp() as "isDue"
from webhook_deliveries where service = $service
