update webhook_deliveries set is_active = false where service = $service and is_active
