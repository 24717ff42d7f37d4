-- `events_numbered` serves its readers, those of the version before among them. The index of a partitioned table cannot be
-- dropped concurrently; the lock is short, as no table is read.
-- squawk-ignore require-concurrent-index-deletion
drop index if exists events_key;
