select set_config('found.ids', array(
    select id from slots
    where is_active and least(delivery_time, freeze_time) >= statement_timestamp()
    and least(delivery_time, freeze_time) < statement_timestamp() + interval '2 hours'
    order by least(delivery_time, freeze_time), id limit 20)::text, true), set_config('plan_cache_mode', 'force_generic_plan', true)
