-- Whether an event was queued once more is asked for each command that is sent again. First publications, nearly all that is ever
-- queued, leave the new index out.
-- squawk-ignore require-concurrent-index-creation
create index if not exists outbox_resends on outbox (event_id) where is_resend;

-- The version before reads the queue as a whole instead. The lock is short: an index is dropped, no table is read.
-- squawk-ignore require-concurrent-index-deletion
drop index if exists outbox_event;
