select sweep_audit_entries('infinity', $most::integer) as swept
