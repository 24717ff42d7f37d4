-- An account's payouts are listed status by status, one range of this index each, so that a rare status costs no more
-- than a common one at any depth. Intents stand in it too, few and soon gone.
--
-- The condition is true of every row, and keeps plans apart: a query that names no status cannot be answered from this
-- index, so no payout is looked for by its id in here. And one that takes its statuses from a list cannot be answered
-- from `payouts_by_time`, so no list is planned to walk through the payouts of all other accounts.
create index payouts_list_by_status on payouts (account_id, status, created_at, id) where status is not null;
drop index payouts_list;
