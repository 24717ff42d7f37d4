-- Reconciliation reads what was sent in a stretch of time. Rows are sent in about the order in which they stand, so
-- that a summary of each few pages is enough, and costs an update next to nothing.
create index payouts_first_put_at on payouts using brin (first_put_at) with (pages_per_range = 16, autosummarize = on);

-- Contradictions are few, and looked at again by every run until an operator has acted.
create index payouts_contradiction on payouts (id) where contradiction is not null;
