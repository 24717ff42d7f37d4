-- Every change of state that others hear of is written here in the transaction that made it.
-- Partitioned by the time inside the UUIDv7 `event_id`, so that a partition is dropped, never vacuumed.
create table events (
  event_id uuid not null primary key,
  topic text not null,
  key text not null,
  type text not null,
  sequence integer,
  headers json,
  message json not null,
  traceparent text
) partition by range (event_id);

create index events_key on events (topic, key, sequence);

-- Ids still to publish. The relay deletes what it has published; nothing is ever updated here.
create table outbox (
  id bigint generated always as identity primary key,
  event_id uuid not null
) with (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_cost_delay = 0
);

-- Rows are locked, not rewritten: who holds the row lock holds the lease.
create table leases (
  name text primary key
);

insert into leases (name) values ('outbox-relay');

-- The smallest UUIDv7 of an instant.
create function uuid_v7_floor(instant timestamptz) returns uuid
  language sql immutable
  return (lpad(to_hex((extract(epoch from instant) * 1000)::bigint), 12, '0') || '70008000000000000000')::uuid;

-- Creates the monthly partitions from last month to `months_ahead` months from now. Idempotent; runs with the
-- rights of the schema's owner, because a service's own role may not create tables.
create function ensure_event_partitions(months_ahead integer) returns void
  language plpgsql security definer set search_path from current
as $$
declare
  month timestamptz := date_trunc('month', now(), 'UTC') - interval '1 month';
begin
  while month <= now() + make_interval(months => months_ahead) loop
    execute format(
      'create table if not exists events_%s partition of events for values from (%L) to (%L)',
      to_char(month at time zone 'UTC', 'YYYYMM'),
      uuid_v7_floor(month),
      uuid_v7_floor(date_trunc('month', month + interval '32 days', 'UTC'))
    );
    month := date_trunc('month', month + interval '32 days', 'UTC');
  end loop;
end
$$;

select ensure_event_partitions(12);

-- History is append-only for the service itself.
do $$
begin
  execute format('revoke update, delete, truncate on events from %I', 'pixmesh_' || current_schema);
  execute format('revoke insert, update, delete on leases from %I', 'pixmesh_' || current_schema);
  execute format('grant update on leases to %I', 'pixmesh_' || current_schema);
end
$$;
