with oldest as (
  select id from redemptions where (redemptions.state = 'HELD' and redemptions.held_until <= statement_timestamp())
  order by held_until limit $most::integer for no key update skip locked
),
swept as (update redemptions set state = 'EXPIRED' from oldest where redemptions.id = oldest.id returning 1)
select count(*)::integer as swept from swept
