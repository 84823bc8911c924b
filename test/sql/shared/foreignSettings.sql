select format('the session has %s = %s: run `alter role %I in database %I set %s = %L`, and connect a pooler anew',
  name, setting, session_user, current_database(), name, value) as problem
from pg_settings join json_each_text($required::json) as required (name, value) using (name)
where case name when 'synchronous_commit' then setting = 'off' when 'extra_float_digits' then setting::integer < 1
when 'default_transaction_isolation' then setting not like 'read %' else split_part(setting, ',', 1) <> value end
order by name
