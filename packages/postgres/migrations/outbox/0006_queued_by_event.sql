-- Whether an event waits already is asked before it is queued once more (`queueAgain`, `resendDue`), for each command
-- that is sent again: many, while the broker takes no outcomes and the queue is long.
-- squawk-ignore require-concurrent-index-creation
create index if not exists outbox_event on outbox (event_id);
