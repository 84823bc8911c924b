-- Up Migration

-- The indexes of migration 0039 keep what is unique, and take the place of earlier ones. The audit trail comes last: every mutation
-- waits for it.
do $$
declare
  name text;
begin
  foreach name in array array['product_groups', 'orders', 'products', 'users', 'staff_users'] loop
    execute format('alter table %I add constraint %I unique using index %2$I', name, name || '_external_id_unique');
  end loop;
end $$;

drop index users_search, products_by_name;
alter index users_search_anew rename to users_search;
alter index products_by_name_anew rename to products_by_name;

alter table audit_entries add primary key using index audit_entries_pkey;
drop index audit_entries_by_subject, audit_entries_by_procedure;
alter index audit_entries_by_subject_prefix rename to audit_entries_by_subject;
alter index audit_entries_by_procedure_name rename to audit_entries_by_procedure;
insert into schema_parts values ('index', 'audit_entries_of_users');
