select set_config('found.ids', array(select id from coupons where search_grams(coupon_code, 1) @> search_grams($term::text, 3) and (coupon_code ilike $pattern::text) and
    (created_at, id) < (
      timestamptz 'epoch' + $createdAt::bigint / 1000000 * interval '1 second'
      + $createdAt::bigint % 1000000 * interval '1 microsecond', $id::integer)
    and id < coalesce(nullif($cursor::bigint, 0), 2147483648) order by created_at desc, id desc limit $rows::bigint)::text, true), set_config('plan_cache_mode', 'force_generic_plan', true)
