with past as (
  select quarter, backend from redemption_quarters
  where backend <> 0 and quarter < statement_timestamp() - interval '1 hour'
  order by quarter limit $most::integer for update skip locked
),
taken as (
  delete from redemption_quarters as counted using past
  where (counted.quarter, counted.backend) = (past.quarter, past.backend) returning counted.*
),
folded as (
  insert into redemption_quarters as counted (quarter, backend, uses, discount_used)
  select quarter, 0, sum(uses), sum(discount_used) from taken group by quarter order by quarter
  on conflict (quarter, backend) do update
  set uses = counted.uses + excluded.uses, discount_used = counted.discount_used + excluded.discount_used
)
select count(*)::integer as swept from taken
