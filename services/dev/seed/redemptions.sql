-- For orders of the last thirty days, more at weekends and more each week. A customer's choice of a coupon counts if its terms allow
-- it. A redemption shares the fate of its order.
insert into redemptions
  (id, coupon_id, user_id, order_key, order_amount, discount_amount, state, held_until, created_at, used_at, released_at)
with chosen as (
  select
    id as order_id, user_id, external_id, total_amount, created_at,
    case when id % 67 = 0 and total_amount >= 500
      then 48 + sum((id % 67 = 0 and total_amount >= 500)::integer) over (order by id)
      else (array[1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 7, 9, 9, 16, 16, 24])[id * 11 % 21 + 1]
    end as coupon_id
  from orders, extract(isodow from created_at at time zone 'Asia/Kolkata') as weekday
  where user_id is not null and created_at > now() - interval '720 hours' and (
    id > 4456 or id % 67 = 0
    or id * 7919 % 101 < (array[36, 33, 35, 38, 46, 66, 72])[weekday::integer] + (id - 4464) / 288
  )
),
allowed as (
  select
    order_id, chosen.user_id, chosen.coupon_id, chosen.external_id, total_amount, chosen.created_at,
    least(round(coalesce(total_amount * discount_percent / 100, flat_discount), 2), max_value, total_amount) as discount,
    coalesce(state, case when order_id % 14 = 9 then 'RELEASED' else 'USED' end) as state, nth, ended_at,
    max_uses, max_limit_for_user,
    row_number() over (partition by chosen.coupon_id order by order_id) as use,
    row_number() over (partition by chosen.coupon_id, chosen.user_id order by order_id) as use_of_user
  from chosen join coupons on coupons.id = coupon_id left join bookings using (order_id)
  where total_amount >= coalesce(min_order, 0) and chosen.created_at > coupons.created_at
    and chosen.created_at < coalesce(valid_till, now())
    -- The documented calls redeem it for this user.
    and (chosen.coupon_id, chosen.user_id) <> (1, 7)
)
select
  row_number() over (order by order_id), coupon_id, user_id, external_id, total_amount, trim_scale(discount),
  case state when 'BOOKED' then 'USED' else state end,
  case state when 'HELD' then now() + make_interval(mins => (nth * 20 - 10)::integer) when 'EXPIRED' then ended_at end,
  created_at,
  case when state not in ('HELD', 'EXPIRED') then created_at + interval '2 minutes' end,
  case when state = 'RELEASED' then coalesce(ended_at, created_at + interval '3 hours') end
from allowed
where use <= coalesce(max_uses - case when max_uses > 1 then 3 else 0 end, use)
  and use_of_user <= coalesce(max_limit_for_user, use_of_user);
