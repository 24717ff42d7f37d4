-- Checks that issuing waits for are taken in turn by account, however many one account has: read by the statement that leases
-- them (`packages/postgres/src/lease-in-turn.ts`). Large installations build it concurrently before.
-- squawk-ignore require-concurrent-index-creation
create index if not exists charges_issuing on charges (account_id, check_at)
  where status = 'processing' and check_at is not null;

-- Each creation writes the one or the other. The version before reads the new one instead, as a whole: charges in
-- `processing` are few. The lock is short: an index is dropped, no table is read.
-- squawk-ignore require-concurrent-index-deletion
drop index if exists charges_issuing_check_at;
