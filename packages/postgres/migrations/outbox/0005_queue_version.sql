-- Of the lease of the outbox relay: counts the changes of its queue after which an event waits. A statement that began
-- before such a change and locks the lease after it does not see it, and would send later events of a key first.
alter table leases add column queue_version bigint not null default 0;
