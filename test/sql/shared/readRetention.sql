select days, has_table_privilege('audit_retention', 'update') as "mayWrite" from audit_retention
