select request, answer, store_request_id as "storeRequestId" from idempotency_keys where id = $id for key share
