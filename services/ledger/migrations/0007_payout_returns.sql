-- Money of payouts that came back, by time: rare among all journals, and read whole by each full run of reconciliation
-- (`booked-journals.sql.ts`). No other journal costs an entry here. Large installations build it concurrently before.
-- squawk-ignore require-concurrent-index-creation
create index if not exists journals_payout_returns on journals (created_at, command_id) where kind = 'credit_payout_return';
