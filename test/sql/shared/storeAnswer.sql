insert into idempotency_keys (id, request, answer, store_request_id)
values ($id, $request, $answer, $storeRequestId)
