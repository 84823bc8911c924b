set transaction isolation level repeatable read
