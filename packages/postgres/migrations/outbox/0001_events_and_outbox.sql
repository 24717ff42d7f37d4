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

-- Creates the monthly partitions from last month to `months_ahead` months from now. Idempotent, and safe from
-- several sessions at once. It runs with the rights of the schema's owner, because a service's own role may
-- not create tables; so every name in it is qualified, and the month does not depend on the caller's time zone.
create function ensure_event_partitions(months_ahead integer) returns void
  language plpgsql security definer set timezone to 'UTC' set search_path from current
as $$
declare
  schema constant text := current_schema;
  month timestamptz := date_trunc('month', now()) - interval '1 month';
  partition text;
begin
  perform pg_advisory_xact_lock(hashtext('event-partitions ' || schema));
  while month <= now() + make_interval(months => months_ahead) loop
    partition := format('%I.%I', schema, 'events_' || to_char(month, 'YYYYMM'));
    if to_regclass(partition) is null then
      execute format(
        'create table %s partition of %I.events for values from (%L) to (%L)',
        partition,
        schema,
        uuid_v7_floor(month),
        uuid_v7_floor(month + interval '1 month')
      );
      -- Rights on the parent are what counts; a partition by its own name would be a way around them.
      execute format('revoke all on %s from %I', partition, 'pixmesh_' || schema);
    end if;
    month := month + interval '1 month';
  end loop;
end
$$;

select ensure_event_partitions(12);

-- History is append-only for the service itself, and a queue is only added to and taken from.
do $$
begin
  execute format('revoke update, delete, truncate on events from %I', 'pixmesh_' || current_schema);
  execute format('revoke update on outbox from %I', 'pixmesh_' || current_schema);
  execute format('revoke insert, update, delete on leases from %I', 'pixmesh_' || current_schema);
  execute format('grant update on leases to %I', 'pixmesh_' || current_schema);
  execute format('revoke execute on function ensure_event_partitions(integer) from public');
  execute format('grant execute on function ensure_event_partitions(integer) to %I', 'pixmesh_' || current_schema);
end
$$;
