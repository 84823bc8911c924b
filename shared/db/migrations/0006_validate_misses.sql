-- Up Migration

-- How many coupon codes a caller has missed within a minute. The columns are those of rate-limiter-flexible's PostgreSQL
-- store: `key` is the SHA-256 of the caller's subject, and `expire` the end of the minute, in epoch milliseconds.
-- Unlogged, because a miss then waits for no flush of the log. A crash of the server loses the counts of one minute.
create unlogged table validate_misses (
  key varchar(255) primary key,
  points integer not null default 0,
  expire bigint
);
create index validate_misses_by_expire on validate_misses (expire);
