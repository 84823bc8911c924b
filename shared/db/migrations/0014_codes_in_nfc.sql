-- Up Migration

-- Codes are stored, searched and validated in NFC: those from before would not be found any more. Of several with one form the
-- first gets it, unless a record has it already; the others stay as they are.
with first as (
  select distinct on (normalize(coupon_code)) id, normalize(coupon_code) as code
  from coupons where coupon_code is not normalized order by normalize(coupon_code), id
)
update coupons set coupon_code = code, etag = default
from first where coupons.id = first.id and not exists (select from coupons where coupon_code = code);

with first as (
  select distinct on (normalize(secret_code)) id, normalize(secret_code) as code
  from reserved_coupons where secret_code is not normalized order by normalize(secret_code), id
)
update reserved_coupons set secret_code = code
from first where reserved_coupons.id = first.id and not exists (select from reserved_coupons where secret_code = code);
update reserved_coupons set coupon_code = normalize(coupon_code) where coupon_code is not normalized;

with first as (
  select distinct on (normalize(snippet_code)) id, normalize(snippet_code) as code
  from vendor_snippets where snippet_code is not normalized order by normalize(snippet_code), id
)
update vendor_snippets set snippet_code = code
from first where vendor_snippets.id = first.id and not exists (select from vendor_snippets where snippet_code = code);
