insert into idempotency_keys (id, request, answer) values ($id, $request, '') on conflict do nothing returning id
