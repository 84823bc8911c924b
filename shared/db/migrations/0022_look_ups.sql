-- Up Migration

-- Staff find snippets by the beginning of their code, in any case. In upper case, because the lower case of a Greek letter depends on
-- whether it ends the text. The root collation of ICU knows the letters of all scripts, and "C" keeps what begins alike together.
create index vendor_snippets_by_folded_code on vendor_snippets ((upper(snippet_code collate "und-x-icu") collate "C"));

-- And they list the reserved coupons that a user redeemed.
create index reserved_coupons_by_redeemer on reserved_coupons (redeemed_by) where redeemed_by is not null;
