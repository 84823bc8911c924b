select set_config('found.ids', array(
    select id from products
    where search_grams(name, 1) @> search_grams($term::text, 3) and (name ilike $pattern::text) and ($includeRetired::boolean or not is_retired)
    order by name collate "und-x-icu", id limit $rows::bigint)::text, true), set_config('plan_cache_mode', 'force_generic_plan', true)
