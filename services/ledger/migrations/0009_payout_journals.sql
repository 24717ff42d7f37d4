-- Journals that move money of ended payouts, by time: rare among all, and read whole by each full run of reconciliation
-- (`booked-journals.sql.ts`). No other journal costs an entry here. The version before reads `journals_payout_returns`,
-- which stays for it. Large installations build this one concurrently before.
-- squawk-ignore require-concurrent-index-creation
create index if not exists journals_of_payouts on journals (created_at, command_id)
  where kind in ('credit_payout_return', 'suspend_payout', 'resolve_suspense');
