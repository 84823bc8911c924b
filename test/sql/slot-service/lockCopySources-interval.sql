select from slots where is_active and delivery_time >=
timestamptz 'epoch' + $fromMicros::bigint / 1000000 * interval '1 second'
+ $fromMicros::bigint % 1000000 * interval '1 microsecond' and delivery_time <
timestamptz 'epoch' + $untilMicros::bigint / 1000000 * interval '1 second'
+ $untilMicros::bigint % 1000000 * interval '1 microsecond' order by id limit 1001 for share
