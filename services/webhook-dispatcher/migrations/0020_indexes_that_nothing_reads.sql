-- Each costs on every write. Lanes were claimed by `lanes_claimable` by a version that is stopped before this one starts
-- (CHANGELOG); events are read by their ids alone. The locks are short: an index is dropped, no table is read.
-- squawk-ignore require-concurrent-index-deletion
drop index if exists lanes_claimable;
-- squawk-ignore require-concurrent-index-deletion
drop index if exists events_resource;
