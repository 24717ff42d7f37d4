-- One row per infraction of the MED that the acquirer lists for a Pix of ours (specification, Dispute status).
create table disputes (
  id uuid primary key,
  -- The acquirer's own id.
  infraction_id text not null unique,
  charge_id uuid not null,
  account_id uuid not null,
  end_to_end_id text not null,
  amount bigint not null,
  status text not null,
  reason text not null,
  -- Decided before we ever saw it (decision 190).
  arrived_resolved boolean not null,
  opened_at timestamptz(3) not null,
  defense_deadline_at timestamptz(3) not null,
  resolved_at timestamptz(3),
  -- What the acquirer said last; said again, it changes nothing (decision 214).
  acquirer_status text not null,
  acquirer_decided_at timestamptz(3),
  -- Whether money of the Pix is blocked for it: ordered, given back, or never.
  block text not null,
  defense_text text,
  defense_sent_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  version integer not null default 0,
  constraint disputes_status check (status in ('open', 'under_review', 'won', 'lost')),
  constraint disputes_resolved check ((status in ('won', 'lost')) = (resolved_at is not null)),
  constraint disputes_block check (block in ('none', 'standing', 'ended')),
  constraint disputes_amount check (amount between 1 and 999999999999)
);

-- One open dispute at a time per Pix (decision 196).
create unique index disputes_open on disputes (end_to_end_id) where status in ('open', 'under_review');
create index disputes_end_to_end_id on disputes (end_to_end_id, opened_at);
create index disputes_charge on disputes (charge_id);
create index disputes_newest on disputes (created_at, id);
create index disputes_newest_of_account on disputes (account_id, created_at, id);
-- From whose opening on the list is read: a dispute that is not lost may still change (decision 218).
create index disputes_not_lost on disputes (opened_at) where status <> 'lost';
-- Blocks of lost disputes wait for the money to leave.
create index disputes_blocked on disputes (resolved_at) where status = 'lost' and block = 'standing';

create table dispute_messages (
  id uuid primary key,
  dispute_id uuid not null,
  message text not null,
  requested_by uuid not null,
  created_at timestamptz(3) not null default now()
);

create index dispute_messages_dispute on dispute_messages (dispute_id, created_at);

-- How far the acquirer's list of infractions has been read, for all replicas.
create table dispute_list (
  only_row boolean primary key default true check (only_row),
  -- Infractions opened before this instant have been dealt with.
  listed_until timestamptz(3) not null default now(),
  check_at timestamptz(3) default now(),
  checks integer not null default 0,
  check_traceparent text,
  lease_token uuid,
  lease_until timestamptz(3)
);

insert into dispute_list default values;

revoke delete, truncate on disputes, dispute_list from pixmesh_charges;
revoke update, delete, truncate on dispute_messages from pixmesh_charges;
