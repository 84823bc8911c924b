with taken as (
  delete from unfolded_uses
  where ctid = any (array(select ctid from unfolded_uses limit 10 * $most::integer for update skip locked))
  returning *
),
folded as (
  insert into folded_uses as counted (quarter, uses, discount_used)
  select date_bin('15 minutes', used_at, '2000-01-01Z') as quarter, sum(uses), sum(discount_used)
  from taken group by quarter order by quarter
  on conflict (quarter) do update
  set uses = counted.uses + excluded.uses, discount_used = counted.discount_used + excluded.discount_used
)
select count(*)::integer as swept from taken
