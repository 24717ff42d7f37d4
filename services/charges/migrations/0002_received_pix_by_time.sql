-- Reconciliation reads what was received in a stretch of time. Rows are only added, in about the order of their
-- payment, so that a summary of each few pages is enough, and costs an insert next to nothing.
create index received_pix_paid_at on received_pix using brin (paid_at) with (pages_per_range = 16, autosummarize = on);
