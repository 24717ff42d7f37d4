-- Money out can be stopped, of one account or of all (decision 262, ADR 0031). A stop is in force until an operator ends
-- it; those that have ended stay as history. Creations and the senders' claim read it in the statements that they are.
create table payout_stops (
  id uuid primary key,
  -- Null: all accounts.
  account_id uuid,
  reason text not null,
  -- An operator, or `reconciliation`.
  set_by text not null,
  created_at timestamptz(3) not null default now(),
  ended_at timestamptz(3),
  ended_by uuid,
  constraint payout_stops_end check ((ended_at is null) = (ended_by is null))
);

-- At most one in force for an account, and one for all: a repeated stop finds it. Read by every creation and claim.
create unique index payout_stops_in_force on payout_stops (account_id) nulls not distinct where ended_at is null;

-- Why an automatic payout waits for approval all the same; null where nothing else than the account's mode says so.
alter table payouts add column pending_reason text;

do $$
begin
  execute format('revoke delete, truncate on payout_stops from %I', 'pixmesh_' || current_schema);
end
$$;
