select (extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs",
current_setting('transaction_read_only')::boolean as "isReadOnly"
