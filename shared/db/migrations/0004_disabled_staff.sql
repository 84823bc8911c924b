-- Up Migration

-- A staff user who created a coupon can't be deleted: one who leaves is disabled, and counts as none.
alter table staff_users add column disabled_at timestamptz;
