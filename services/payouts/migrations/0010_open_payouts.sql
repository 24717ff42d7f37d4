-- Payouts that have not ended, of all accounts: few, however many have. Read by the lists of operators over all accounts
-- with the status `pending` or `processing`, and by reconciliation, a page at a time. Large installations build it
-- concurrently before.
-- squawk-ignore require-concurrent-index-creation
create index if not exists payouts_open on payouts (status, created_at, id) where status in ('pending', 'processing');
