-- What was consumed, where it goes, and how that went. No foreign keys: the rows of one event are written by
-- one statement and never deleted apart, and each key would cost a lock on its parent per delivery.

-- Events that made at least one delivery, under the id their producer minted.
create table events (
  event_id uuid primary key,
  type text not null,
  account_id uuid not null,
  application_id uuid,
  resource_id uuid not null,
  source text not null,
  sequence integer not null,
  occurred_at timestamptz(3) not null
);

create index events_resource on events (resource_id, sequence);

-- The destination that a resource was created with, from its first event on. Its secret stays sealed.
create table destinations (
  resource_id uuid primary key,
  account_id uuid not null,
  url text not null,
  sealed_secret text,
  created_at timestamptz(3) not null default now()
);

-- One row per event and destination, whatever is redelivered. `destination_id` is the resource's id for its
-- own URL.
create table deliveries (
  id uuid primary key,
  event_id uuid not null,
  destination_id uuid not null,
  account_id uuid not null,
  resource_id uuid not null,
  event text not null,
  -- Account, scheme, host and port of the destination: what shares one bound of sends in flight.
  lane_id uuid not null,
  status text not null default 'pending',
  attempt_count integer not null default 0,
  -- The schedule as people see it; null once nothing more is scheduled.
  next_attempt_at timestamptz(3),
  -- When a sender looks at the row next: the schedule, or the end of the lease while one is held.
  due_at timestamptz(3) not null default now(),
  leased boolean not null default false,
  -- Counts claims: an outcome is recorded only under the claim that it belongs to.
  fence integer not null default 0,
  traceparent text,
  created_at timestamptz(3) not null default now(),
  constraint deliveries_event_destination unique (event_id, destination_id),
  constraint deliveries_status check (status in ('pending', 'succeeded', 'failed', 'skipped', 'canceled')),
  constraint deliveries_next_attempt check (status = 'pending' or next_attempt_at is null)
) with (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_cost_delay = 0
);

-- The claim's only way in: its cost does not depend on how many deliveries have ended.
create index deliveries_due on deliveries (due_at) where status = 'pending';
create index deliveries_resource on deliveries (resource_id, id desc);

-- The exact bytes that every attempt sends and signs. Apart, so that claims and outcomes never rewrite them.
create table delivery_bodies (
  delivery_id uuid primary key,
  body bytea not null
);

-- Every request that was made, or refused before it was made.
create table attempts (
  delivery_id uuid not null,
  number integer not null,
  started_at timestamptz(3) not null,
  duration_ms integer not null,
  outcome text not null,
  status integer,
  error text,
  response_excerpt text,
  address text,
  manual boolean not null default false,
  constraint attempts_number primary key (delivery_id, number),
  constraint attempts_outcome check (outcome in ('succeeded', 'failed'))
);

-- History is append-only for the service itself.
do $$
begin
  execute format('revoke update, delete, truncate on events, attempts, delivery_bodies from %I', 'pixmesh_' || current_schema);
  execute format('revoke delete, truncate on destinations, deliveries from %I', 'pixmesh_' || current_schema);
end
$$;
