update audit_retention set days = $days where days is distinct from $days
