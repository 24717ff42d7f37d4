-- Whose lane it is, so that senders claim lanes of accounts in turn. Nobody's (all zeros) until something is queued in the
-- lane by a process that knows this column; those share one turn.
alter table lanes add column account_id uuid not null default '00000000-0000-0000-0000-000000000000';

-- Whether the lane stands in its account's line for a sender. False while it sleeps, is served, or has something due
-- later: such a lane joins the line when its time comes.
alter table lanes add column waiting boolean not null default false;

-- Which process claimed it last (`processes`).
alter table lanes add column owner uuid;

-- Processes of this service, by what each says of itself every second. A row that is no longer renewed is deleted by others.
create table processes (
  id uuid primary key,
  host text not null,
  pid integer not null,
  roles text[] not null,
  started_at timestamptz(3) not null,
  seen_at timestamptz(3) not null,
  -- Of a core, since the row was written before.
  cpu_share real not null,
  -- Of the role `sender`; null for the others.
  lanes integer,
  slots_used integer,
  slots_max integer
);
