lock table store_versions in exclusive mode
