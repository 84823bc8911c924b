select count(*)::integer as "pendingRequests" from store_refresh_requests
