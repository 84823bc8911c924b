update users set mobile = given.mobile from json_to_recordset($rows::json) as given (external_id text, mobile text)
where users.external_id = given.external_id and users.mobile is null and given.mobile is not null
