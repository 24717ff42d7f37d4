-- Requested checks are taken in turn by account, the others by when they are due: each has an index of its own, and a
-- row stands in one of them.
create index payouts_requested on payouts (account_id) where check_at = '-infinity';
drop index payouts_check_at;
create index payouts_check_at on payouts (check_at) where check_at > '-infinity';
