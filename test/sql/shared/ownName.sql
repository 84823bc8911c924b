select own_name($name) as name
