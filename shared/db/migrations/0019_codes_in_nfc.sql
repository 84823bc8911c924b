-- Up Migration

-- Codes are stored, searched and validated in NFC: those from before would not be found any more. One whose other form another
-- record has stays as it is.
update coupons set coupon_code = normalize(coupon_code), etag = default
where coupon_code is not normalized
  and not exists (select from coupons as other where other.coupon_code = normalize(coupons.coupon_code));

update reserved_coupons set secret_code = normalize(secret_code)
where secret_code is not normalized
  and not exists (select from reserved_coupons as other where other.secret_code = normalize(reserved_coupons.secret_code));
update reserved_coupons set coupon_code = normalize(coupon_code) where coupon_code is not normalized;

update vendor_snippets set snippet_code = normalize(snippet_code)
where snippet_code is not normalized
  and not exists (select from vendor_snippets as other where other.snippet_code = normalize(vendor_snippets.snippet_code));
