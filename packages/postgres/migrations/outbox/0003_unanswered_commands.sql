-- Commands to the ledger from when they are written until their outcome has come back. What stands here for long was lost
-- on the way there or back, and is sent again.
create table unanswered_commands (
  command_id uuid not null,
  event_id uuid not null,
  -- When it was last sent. When it was written is the time inside `event_id`.
  sent_at timestamptz(3) not null default now(),
  -- Two messages may carry one command: the ledger does the first of them.
  primary key (command_id, event_id)
) with (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_cost_delay = 0
);

create index unanswered_commands_sent on unanswered_commands (sent_at);

-- Published once more, with a header that says so.
alter table outbox add column is_resend boolean not null default false;
