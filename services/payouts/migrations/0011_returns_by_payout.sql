-- What came back of a payout, whatever the Pix was called when it was recorded: read by the statement that records a return,
-- which bounds their sum, and by reconciliation, the list of sent Pix, timelines and the acceptance of suspense items.
-- Returns are rare among payouts. Large installations build it concurrently before.
-- squawk-ignore require-concurrent-index-creation
create index if not exists payout_returns_payout on payout_returns (payout_id);
