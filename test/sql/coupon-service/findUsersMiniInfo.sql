select set_config('found.ids', array(
    select id from users
    where search_grams(coalesce(name, '') || E'\n' || coalesce(mobile, ''), 1) @> search_grams($term::text, 3) and (name ilike $pattern::text or mobile ilike $pattern::text) and true
    order by nullif(name, '') collate "und-x-icu" asc nulls last, id limit $rows::bigint)::text, true), set_config('plan_cache_mode', 'force_generic_plan', true)
