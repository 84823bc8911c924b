-- Up Migration

-- The pieces of a text, in lower case, of 1 to 3 characters; from `shortest` on, as far as the text
-- is that long. A text contains a term only if its pieces contain the term's. Unlike the trigrams of
-- pg_trgm they also serve terms of 1 and 2 characters, and signs. Repeats are left to the index.
-- Restricted, because to start workers takes longer than any search of a rare term.
create function search_grams(value text, shortest integer) returns text[]
  language sql immutable strict parallel restricted cost 1000
  return array(
    select substr(lowered, start, size)
    from (select lower(value) as lowered offset 0) as text,
      generate_series(least(shortest, length(lowered)), 3) as size,
      generate_series(1, length(lowered) - size + 1) as start
  );

create index coupons_search on coupons using gin (search_grams(coupon_code, 1));

create index reserved_coupons_search on reserved_coupons
  using gin (search_grams(secret_code || E'\n' || coupon_code, 1));

create index users_search on users using gin (search_grams(coalesce(name, '') || E'\n' || mobile, 1));

-- Staff see users by name, and an empty name counts as none.
create index users_by_name on users (nullif(name, '') asc nulls last, id);
