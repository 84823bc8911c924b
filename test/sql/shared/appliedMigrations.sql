select name from schema_migrations order by run_on, id
