with oldest as (
  select id from idempotency_keys where created_at < now() - $hours::integer * interval '1 hour'
  order by created_at limit $most::integer for update skip locked
),
swept as (delete from idempotency_keys using oldest where idempotency_keys.id = oldest.id returning 1)
select count(*)::integer as swept from swept
