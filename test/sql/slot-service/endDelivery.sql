with ended as (
  update webhook_deliveries set is_active = false where service = $service and is_active returning 1
)
select count(*)::integer as swept from ended
