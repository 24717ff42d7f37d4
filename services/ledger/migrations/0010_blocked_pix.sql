-- What is blocked of Pix, by owner: rare among all Pix of which something went back, and compared with the owners' rows
-- by each run of reconciliation (`part-checks.sql.ts`). No other Pix costs an entry here. Large installations build it
-- concurrently before.
-- squawk-ignore require-concurrent-index-creation
create index if not exists pix_debits_blocked on pix_debits (account_id) where blocked <> 0;
