select set_config('plan_cache_mode', 'force_custom_plan', true)
