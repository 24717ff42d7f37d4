-- When each event was added to what an endpoint hears, by its name, if that was after its registration: what happened
-- before is not sent to it, however often its message comes.
alter table endpoints add column events_added_at jsonb not null default '{}';

-- In a paused lane, too, single re-sends go before recovered deliveries, and each kind is found without the other.
drop index queue_resends;
create index queue_resends on queue (lane_id, rank, due_at) where is_resend;
