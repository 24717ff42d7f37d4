-- Apart from the columns, whose lock would last as long as an index is built. A lane is in one of the two: what joins a line by
-- time, and the lines. Read by `lanes_claim` and `lanes_count_due`.
--
-- The version before claims by `lanes_claimable` while it still runs. Nothing else reads that one: the next release drops it.
create index if not exists lanes_joining on lanes (claimable_at) where claimable_at < 'infinity' and not waiting;
create index if not exists lanes_waiting on lanes (account_id, claimable_at) where waiting;
