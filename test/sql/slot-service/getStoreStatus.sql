select (select count(*)::integer from store_refresh_requests) as "pendingRequests"
