-- Requested checks are taken in turn by account, the others by when they are due: each has an index of its own, and a
-- row stands in one of them.
create index charges_requested on charges (account_id) where check_at = '-infinity';
drop index charges_check_at;
create index charges_check_at on charges (check_at) where check_at > '-infinity';
