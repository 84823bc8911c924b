select current_schema() as schema, to_regclass('schema_migrations') is not null as exists
