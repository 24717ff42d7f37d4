-- What is to be done stands apart from what happened. `queue` and `lanes` are small and hot: their cost follows what
-- waits. `events`, `deliveries` and `attempts` are history: append-mostly, in weekly partitions by the time inside their
-- ids, so that retention drops a week and never deletes a row.

-- Rows are locked, not rewritten: who holds the row lock holds the lease.
create table leases (
  name text primary key
);

insert into leases (name) values ('retention'), ('recoveries'), ('resealing');

-- The smallest UUIDv7 of an instant.
create function uuid_v7_floor(instant timestamptz) returns uuid
  language sql immutable
  return (lpad(to_hex((extract(epoch from instant) * 1000)::bigint), 12, '0') || '70008000000000000000')::uuid;

-- A lane: what shares one bound of sends in flight, one order and one breaker. At most one sender serves it at a time.
create table lanes (
  id uuid primary key,
  -- When a sender may take the lane: its next due delivery, the end of its lease, or never while nothing waits.
  claimable_at timestamptz(3) not null default 'infinity',
  leased boolean not null default false,
  -- Counts claims: what an older claim says of the lane is refused.
  fence bigint not null default 0,
  -- Failed attempts in a row, whatever deliveries they were of.
  failure_count integer not null default 0,
  -- While the breaker is open: no attempt before.
  probe_at timestamptz(3)
) with (
  fillfactor = 50,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_cost_delay = 0
);

create index lanes_claimable on lanes (claimable_at) where claimable_at < 'infinity';

-- Attempts to make. A row goes when its delivery is over; a re-send has a row of its own and goes after one attempt.
create table queue (
  -- The delivery's id for its schedule; a re-send's own id.
  id uuid primary key,
  delivery_id uuid not null,
  event_id uuid not null,
  lane_id uuid not null,
  endpoint_id uuid,
  for_resource_url boolean not null,
  -- Which goes first in a lane: 0 first attempts and single re-sends, 1 retries, 2 recoveries.
  rank smallint not null default 0,
  due_at timestamptz(3) not null default now(),
  -- Attempts of the schedule that were made.
  attempt_count smallint not null default 0,
  is_resend boolean not null default false,
  recovery_id uuid,
  constraint queue_rank check (rank between 0 and 2),
  constraint queue_schedule check (is_resend or id = delivery_id)
) with (
  fillfactor = 70,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0
);

-- The only way in for senders: one range per lane and rank, whatever else waits.
create index queue_lane on queue (lane_id, rank, due_at);
create index queue_recovery on queue (recovery_id) where recovery_id is not null;
-- A paused lane may hold a hundred thousand rows that wait; its re-sends are found without them.
create index queue_resends on queue (lane_id, due_at) where is_resend;
create index queue_resent_deliveries on queue (delivery_id) where is_resend;

-- How an endpoint does, counted with every attempt.
create table endpoint_health (
  endpoint_id uuid primary key,
  succeeded_count bigint not null default 0,
  failed_count bigint not null default 0,
  last_success_at timestamptz(3),
  last_failure_at timestamptz(3),
  -- The first failure since the last success; null while it does well.
  failing_since timestamptz(3)
) with (
  fillfactor = 50
);

-- Bulk re-sending as a stored job: what it asks for, how far it has come, whether it goes on.
create table recoveries (
  id uuid primary key,
  account_id uuid not null,
  application_id uuid,
  endpoint_id uuid,
  event text,
  statuses text[] not null,
  created_from timestamptz(3) not null,
  created_until timestamptz(3) not null,
  rate_per_second integer not null,
  status text not null default 'running',
  -- The last delivery that was looked at, oldest first.
  position uuid,
  queued_count integer not null default 0,
  succeeded_count integer not null default 0,
  failed_count integer not null default 0,
  requested_by text not null,
  created_at timestamptz(3) not null default now(),
  ended_at timestamptz(3),
  constraint recoveries_status check (status in ('running', 'sending', 'completed', 'canceled')),
  constraint recoveries_rate check (rate_per_second between 1 and 1000)
);

create index recoveries_running on recoveries (id) where status in ('running', 'sending');

-- Event: the body is kept once. What follows the delivery's id in it is the same for all deliveries of an event.
alter table events rename to events_first;
alter table events_first rename constraint events_pkey to events_first_pkey;
alter index events_resource rename to events_first_resource;
alter table events_first add column traceparent text, add column body_rest bytea;

update events_first
set traceparent = sample.traceparent,
    -- `{"id":"` and 36 characters and `"` are what differs.
    body_rest = substring(sample.body from 45)
from (
  select distinct on (deliveries.event_id) deliveries.event_id, deliveries.traceparent, delivery_bodies.body
  from deliveries
  join delivery_bodies on delivery_bodies.delivery_id = deliveries.id
  order by deliveries.event_id
) as sample
where sample.event_id = events_first.event_id;

alter table events_first alter column body_rest set not null;

-- Retries send the bytes that the first attempt sent, or this ends here.
do $$
begin
  if exists (
    select
    from deliveries
    left join events_first on events_first.event_id = deliveries.event_id
    left join delivery_bodies on delivery_bodies.delivery_id = deliveries.id
    where convert_to(format('{"id":"%s"', deliveries.id), 'UTF8') || events_first.body_rest
      is distinct from delivery_bodies.body
  ) then
    raise exception 'a delivery''s body does not consist of its id and what it shares with its event';
  end if;
end
$$;

create table events (
  event_id uuid primary key,
  type text not null,
  account_id uuid not null,
  application_id uuid,
  resource_id uuid not null,
  source text not null,
  sequence integer not null,
  occurred_at timestamptz(3) not null,
  traceparent text,
  body_rest bytea not null
) partition by range (event_id);

create index events_resource on events (resource_id, sequence);

-- What was pending waits in the queue from now on. What stands for the URL of its resource too has a lane of its own,
-- so that no pause of the endpoint silences it.
update deliveries set lane_id = resource_id where for_resource_url;

insert into queue
  (id, delivery_id, event_id, lane_id, endpoint_id, for_resource_url, rank, due_at, attempt_count)
select
  id, id, event_id, lane_id, endpoint_id, for_resource_url, case when attempt_count = 0 then 0 else 1 end,
  coalesce(next_attempt_at, due_at), attempt_count
from deliveries
where status = 'pending';

-- Every endpoint has its lane from its first day: whoever changes it holds that row.
insert into lanes (id, claimable_at)
select id, coalesce(min(due_at), 'infinity')
from (
  select lane_id as id, due_at from queue
  union all
  select id, null from endpoints where deleted_at is null
) as named
group by id;

insert into endpoint_health (
  endpoint_id, succeeded_count, failed_count, last_success_at, last_failure_at, failing_since
)
select
  endpoint_id,
  count(*) filter (where outcome = 'succeeded'),
  count(*) filter (where outcome = 'failed'),
  max(last_success_at),
  max(started_at) filter (where outcome = 'failed'),
  min(started_at) filter (where outcome = 'failed' and started_at > coalesce(last_success_at, '-infinity'))
from (
  select
    endpoint_id, outcome, started_at,
    max(started_at) filter (where outcome = 'succeeded') over (partition by endpoint_id) as last_success_at
  from attempts
  join deliveries on deliveries.id = attempts.delivery_id
  where endpoint_id is not null
) as attempt
group by endpoint_id;

-- Deliveries: an event's deliveries have the event's time in their ids, and the destination in the rest of it, so the
-- primary key alone says that (event, destination) is delivered once.
alter table deliveries rename to deliveries_first;
drop index deliveries_due;
drop index deliveries_endpoint_pending;
alter index deliveries_resource rename to deliveries_first_resource;
alter table deliveries_first rename constraint deliveries_pkey to deliveries_first_pkey;
alter table deliveries_first
  drop constraint deliveries_event_destination,
  drop constraint deliveries_next_attempt,
  drop column attempt_count,
  drop column next_attempt_at,
  drop column due_at,
  drop column leased,
  drop column fence,
  drop column traceparent;

create table deliveries (
  id uuid primary key,
  event_id uuid not null,
  -- With the event, what the id is made of: the endpoint's id or the resource's.
  destination_id uuid not null,
  account_id uuid not null,
  resource_id uuid not null,
  event text not null,
  lane_id uuid not null,
  status text not null default 'pending',
  created_at timestamptz(3) not null default now(),
  -- Null for the URL of a resource.
  endpoint_id uuid,
  -- One delivery for both mechanisms: an endpoint without a secret then signs with the resource's (decision 179).
  for_resource_url boolean not null default false,
  constraint deliveries_status check (status in ('pending', 'succeeded', 'failed', 'skipped', 'canceled'))
) partition by range (id);

create index deliveries_resource on deliveries (resource_id, id desc);
create index deliveries_endpoint on deliveries (endpoint_id, id desc) where endpoint_id is not null;
create index deliveries_unsent on deliveries (status, id desc) where status in ('failed', 'skipped', 'canceled');

drop table delivery_bodies;

-- Attempts: each under an id that its sender gave it, so that one that is said again adds nothing. Their order is that
-- of their beginnings, then of their ids; what was numbered keeps its number.
alter table attempts rename to attempts_first;
alter table attempts_first drop constraint attempts_number, add column id uuid;
update attempts_first
set id = overlay(uuid_v7_floor(started_at)::text placing lpad(to_hex(number), 12, '0') from 25)::uuid;
alter table attempts_first drop column number, add constraint attempts_first_pkey primary key (delivery_id, id);

create table attempts (
  delivery_id uuid not null,
  id uuid not null,
  started_at timestamptz(3) not null,
  duration_ms integer not null,
  outcome text not null,
  status integer,
  error text,
  response_excerpt text,
  address text,
  manual boolean not null default false,
  primary key (delivery_id, id),
  constraint attempts_outcome check (outcome in ('succeeded', 'failed'))
) partition by range (delivery_id);

-- The partitions of a history with the id at which each ends.
create function history_partitions(parent regclass) returns table (partition regclass, upper_bound uuid)
  language sql stable set search_path from current
as $$
  select
    pg_class.oid::regclass,
    substring(pg_get_expr(relpartbound, pg_class.oid) from 'TO \(''([0-9a-f-]+)''\)')::uuid
  from pg_inherits
  join pg_class on pg_class.oid = inhrelid
  where inhparent = parent
$$;

-- Creates the weekly partitions of all three up to `weeks_ahead` weeks from now. Idempotent, and safe from several
-- sessions at once. It runs with the rights of the schema's owner, because a service's own role may not create tables.
create function ensure_history_partitions(weeks_ahead integer) returns void
  language plpgsql security definer set timezone to 'UTC' set search_path from current
as $$
declare
  schema constant text := current_schema;
  week timestamptz;
  parent text;
  partition text;
  lower_bound uuid;
  upper_bound uuid;
begin
  perform pg_advisory_xact_lock(hashtext('history-partitions ' || schema));
  foreach parent in array array['events', 'deliveries', 'attempts'] loop
    week := date_trunc('week', now());
    -- Each begins where the last one ends, also after weeks in which nobody called this.
    select covered.upper_bound into lower_bound
    from history_partitions(format('%I.%I', schema, parent)::regclass) as covered
    order by covered.upper_bound desc
    limit 1;
    while week <= now() + make_interval(weeks => weeks_ahead) loop
      upper_bound := uuid_v7_floor(week + interval '1 week');
      if lower_bound is null or lower_bound < upper_bound then
        partition := format('%I.%I', schema, parent || '_' || to_char(week, 'YYYYMMDD'));
        execute format(
          'create table %s partition of %I.%I for values from (%L) to (%L)'
          ' with (fillfactor = 85, autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0)',
          partition,
          schema,
          parent,
          coalesce(lower_bound, uuid_v7_floor(week)),
          upper_bound
        );
        -- Rights on the parent are what counts; a partition by its own name would be a way around them.
        execute format('revoke all on %s from %I', partition, 'pixmesh_' || schema);
        lower_bound := upper_bound;
      end if;
      week := week + interval '1 week';
    end loop;
  end loop;
end
$$;

-- Drops the partitions whose youngest row is older than `keep_days` and from which nothing waits any more; answers how
-- many. The bound is enforced here, so that the service's own role cannot wipe last month. Re-sending must be possible
-- for 30 days. All three go together or not at all: nobody may queue meanwhile, and nobody waits long for that.
create function drop_old_history_partitions(keep_days integer) returns integer
  language plpgsql security definer set timezone to 'UTC' set lock_timeout to '2s' set search_path from current
as $$
declare
  parent text;
  old record;
  oldest_waiting uuid;
  dropped integer := 0;
begin
  if keep_days is null or keep_days < 30 then
    raise exception 'deliveries are kept for 30 days at least' using errcode = 'check_violation';
  end if;
  -- Most days nothing is old enough, and then nobody is kept waiting.
  if not exists (
    select
    from history_partitions('deliveries'::regclass)
    where upper_bound <= uuid_v7_floor(now() - make_interval(days => keep_days))
  ) then
    return 0;
  end if;
  lock table queue in share row exclusive mode;
  select least(
    (select id from queue where not is_resend order by id limit 1),
    (select delivery_id from queue where is_resend order by delivery_id limit 1)
  ) into oldest_waiting;
  foreach parent in array array['attempts', 'deliveries', 'events'] loop
    for old in
      select partition
      from history_partitions(format('%I.%I', current_schema, parent)::regclass)
      where upper_bound <= uuid_v7_floor(now() - make_interval(days => keep_days))
        and (oldest_waiting is null or upper_bound <= oldest_waiting)
    loop
      execute format('drop table %s', old.partition);
      dropped := dropped + 1;
    end loop;
  end loop;
  return dropped;
end
$$;

-- Everything so far, and whatever comes until the week ends, is the first partition.
do $$
declare
  parent text;
  role constant text := 'pixmesh_' || current_schema;
begin
  set local timezone to 'UTC';
  foreach parent in array array['events', 'deliveries', 'attempts'] loop
    execute format(
      'alter table %I attach partition %I for values from (minvalue) to (%L)',
      parent,
      parent || '_first',
      uuid_v7_floor(date_trunc('week', now()) + interval '1 week')
    );
    execute format('revoke all on %I from %I', parent || '_first', role);
  end loop;
  perform ensure_history_partitions(8);
  -- History is append-only for the service itself; a delivery's state is all that moves.
  execute format('revoke update, delete, truncate on events, attempts from %I', role);
  execute format('revoke delete, truncate on deliveries, lanes, endpoint_health, recoveries from %I', role);
  execute format('revoke truncate on queue from %I', role);
  execute format('revoke insert, update, delete on leases from %I', role);
  execute format('grant update on leases to %I', role);
  execute format(
    'revoke execute on function history_partitions(regclass), ensure_history_partitions(integer), '
    'drop_old_history_partitions(integer) from public'
  );
  execute format(
    'grant execute on function ensure_history_partitions(integer), drop_old_history_partitions(integer) to %I',
    role
  );
end
$$;
