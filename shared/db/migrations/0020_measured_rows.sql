-- Up Migration

-- `shown_bytes` is measured from the whole row, so that it counts a field that is added later. Its expression named today's fields.
create function measure_slot() returns trigger
  language plpgsql
  as $$
begin
  new.shown_bytes := 0;
  new.shown_bytes := octet_length(new::text);
  return new;
end $$;
alter table slots alter column shown_bytes drop expression if exists;
-- An update of any field that staff edit writes the times, too. Flags and the etag keep their size; for a write of the
-- etag alone, which each write of products does, the trigger would take a tenth of the write.
create or replace trigger slots_measured
  before update of delivery_time, freeze_time, delivery_sequence on slots
  for each row execute function measure_slot();
create or replace trigger inserted_slots_measured
  before insert on slots for each row when (new.shown_bytes is null) execute function measure_slot();
