begin isolation level repeatable read
