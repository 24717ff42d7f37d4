-- The transaction in which a relay last put events back, or took them out of a queue that goes on waiting. A statement that
-- began before its commit and locks the lease after it would not see that: it would send later events of a key first.
alter table leases add column queue_changed_in xid8;
