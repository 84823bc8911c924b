-- Up Migration

-- Staff search coupons in the order of their listing. With the codes in its index, the latest are searched without being read.
create index coupons_latest_first_covering on coupons (created_at desc, id desc) include (coupon_code);
drop index coupons_latest_first;
alter index coupons_latest_first_covering rename to coupons_latest_first;

create index reserved_coupons_latest_first_covering on reserved_coupons (created_at desc, id desc)
  include (secret_code, coupon_code);
drop index reserved_coupons_latest_first;
alter index reserved_coupons_latest_first_covering rename to reserved_coupons_latest_first;
