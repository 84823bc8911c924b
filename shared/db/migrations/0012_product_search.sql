-- Up Migration

-- Staff page through products by name. The index has all that the order needs, and no images, which may be long: they are read of
-- the products of the page only.
create index products_by_name on products (name, id);

-- And they look products up by a part of their name, as they do users.
create index products_search on products using gin (search_grams(name, 1));
