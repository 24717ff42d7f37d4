-- Requests of an account or an application are those of its keys, which are never deleted: `request_log_key` finds them. Every
-- request wrote these two. The version before lists by them without an index while it still runs: slowly, or not before its
-- timeout. An index of a partitioned table cannot be dropped concurrently; the lock is short, as no table is read.
-- squawk-ignore require-concurrent-index-deletion
drop index if exists request_log_account;
-- squawk-ignore require-concurrent-index-deletion
drop index if exists request_log_application;
