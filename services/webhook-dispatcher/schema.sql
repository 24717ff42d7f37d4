-- Schema webhook_dispatcher: the sum of its migrations. Written by a test; UPDATE_GOLDEN=1 refreshes it.
-- As in packages/postgres/mechanisms.sql: table dead_letters, table message_schemas, table reconciliation_breaks, table reconciliation_full_lease, table reconciliation_lease, table reconciliation_runs, function uuid_v7_floor, grant on dead_letters, grant on reconciliation_breaks, grant on reconciliation_runs, grant on events, grant on message_schemas, grant on leases, grant on reconciliation_full_lease, grant on reconciliation_lease.

create table applications (
  application_id uuid not null,
  account_id uuid not null,
  active boolean not null,
  version integer not null,
  changed_at timestamp(3) with time zone not null,
  missed_since timestamp(3) with time zone,
  constraint applications_pkey PRIMARY KEY (application_id)
);

create table attempts (
  delivery_id uuid not null,
  id uuid not null,
  started_at timestamp(3) with time zone not null,
  duration_ms integer not null,
  outcome text not null,
  status integer,
  error text,
  response_excerpt text,
  address text,
  manual boolean default false not null,
  constraint attempts_pkey PRIMARY KEY (delivery_id, id),
  constraint attempts_outcome CHECK ((outcome = ANY (ARRAY['succeeded'::text, 'failed'::text])))
) partition by range (delivery_id);

create table deliveries (
  id uuid not null,
  event_id uuid not null,
  destination_id uuid not null,
  account_id uuid not null,
  resource_id uuid not null,
  event text not null,
  lane_id uuid not null,
  status text default 'pending'::text not null,
  created_at timestamp(3) with time zone default now() not null,
  endpoint_id uuid,
  for_resource_url boolean default false not null,
  unsent text,
  constraint deliveries_pkey PRIMARY KEY (id),
  constraint deliveries_status CHECK ((status = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text, 'skipped'::text, 'canceled'::text])))
) partition by range (id);
CREATE INDEX deliveries_account ON ONLY deliveries USING btree (event, account_id, id);
CREATE INDEX deliveries_endpoint ON ONLY deliveries USING btree (endpoint_id, id DESC) WHERE endpoint_id IS NOT NULL;
CREATE INDEX deliveries_event ON ONLY deliveries USING btree (event, id);
CREATE INDEX deliveries_not_sent ON ONLY deliveries USING btree (unsent, id DESC) WHERE unsent IS NOT NULL;
CREATE INDEX deliveries_not_sent_by_account ON ONLY deliveries USING btree (unsent, account_id, id) WHERE unsent IS NOT NULL;
CREATE INDEX deliveries_not_sent_by_endpoint ON ONLY deliveries USING btree (unsent, endpoint_id, id) WHERE unsent IS NOT NULL AND endpoint_id IS NOT NULL;
CREATE INDEX deliveries_resource ON ONLY deliveries USING btree (resource_id, id DESC);

create table delivery_rates (
  account_id uuid not null,
  per_second_max integer,
  version integer not null,
  tokens double precision default 0 not null,
  filled_at timestamp(3) with time zone default now() not null,
  constraint delivery_rates_pkey PRIMARY KEY (account_id),
  constraint delivery_rates_max CHECK ((per_second_max >= 1))
);

create table destinations (
  resource_id uuid not null,
  account_id uuid not null,
  url text not null,
  sealed_secret text,
  created_at timestamp(3) with time zone default now() not null,
  used_at timestamp(3) with time zone default now() not null,
  constraint destinations_pkey PRIMARY KEY (resource_id)
);
CREATE INDEX destinations_sealing_version ON destinations USING btree (split_part(sealed_secret, '.'::text, 3)) WHERE sealed_secret IS NOT NULL;

create table endpoint_health (
  endpoint_id uuid not null,
  succeeded_count bigint default 0 not null,
  failed_count bigint default 0 not null,
  last_success_at timestamp(3) with time zone,
  last_failure_at timestamp(3) with time zone,
  failing_since timestamp(3) with time zone,
  constraint endpoint_health_pkey PRIMARY KEY (endpoint_id)
) with (fillfactor=50);

create table endpoints (
  id uuid not null,
  account_id uuid not null,
  application_id uuid not null,
  url text not null,
  description text not null,
  events text[] not null,
  active boolean default true not null,
  sealed_secret text,
  created_at timestamp(3) with time zone default now() not null,
  deleted_at timestamp(3) with time zone,
  paused_at timestamp(3) with time zone,
  application_inactive_since timestamp(3) with time zone,
  secret_changed_at timestamp(3) with time zone,
  events_added_at jsonb default '{}'::jsonb not null,
  constraint endpoints_pkey PRIMARY KEY (id),
  constraint endpoints_paused CHECK (((paused_at IS NULL) OR (NOT active)))
);
CREATE INDEX endpoints_account ON endpoints USING btree (account_id) WHERE deleted_at IS NULL;
CREATE INDEX endpoints_application ON endpoints USING btree (application_id, created_at DESC, id DESC) WHERE deleted_at IS NULL;
CREATE INDEX endpoints_sealing_version ON endpoints USING btree (split_part(sealed_secret, '.'::text, 3)) WHERE sealed_secret IS NOT NULL;

create table events (
  event_id uuid not null,
  type text not null,
  account_id uuid not null,
  application_id uuid,
  resource_id uuid not null,
  source text not null,
  sequence integer not null,
  occurred_at timestamp(3) with time zone not null,
  traceparent text,
  body_rest bytea not null,
  constraint events_pkey PRIMARY KEY (event_id)
) partition by range (event_id);

create table lanes (
  id uuid not null,
  claimable_at timestamp(3) with time zone default 'infinity'::timestamp with time zone not null,
  leased boolean default false not null,
  fence bigint default 0 not null,
  failure_count integer default 0 not null,
  probe_at timestamp(3) with time zone,
  account_id uuid default '00000000-0000-0000-0000-000000000000'::uuid not null,
  waiting boolean default false not null,
  owner uuid,
  constraint lanes_pkey PRIMARY KEY (id)
) with (autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000, fillfactor=50);
CREATE INDEX lanes_joining ON lanes USING btree (claimable_at) WHERE claimable_at < 'infinity'::timestamp with time zone AND NOT waiting;
CREATE INDEX lanes_waiting ON lanes USING btree (account_id, claimable_at) WHERE waiting;

create table leases (
  name text not null,
  constraint leases_pkey PRIMARY KEY (name)
);

create table processes (
  id uuid not null,
  host text not null,
  pid integer not null,
  roles text[] not null,
  started_at timestamp(3) with time zone not null,
  seen_at timestamp(3) with time zone not null,
  cpu_share real not null,
  lanes integer,
  slots_used integer,
  slots_max integer,
  constraint processes_pkey PRIMARY KEY (id)
);

create table queue (
  id uuid not null,
  delivery_id uuid not null,
  event_id uuid not null,
  lane_id uuid not null,
  endpoint_id uuid,
  for_resource_url boolean not null,
  rank smallint default 0 not null,
  due_at timestamp(3) with time zone default now() not null,
  attempt_count smallint default 0 not null,
  is_resend boolean default false not null,
  recovery_id uuid,
  constraint queue_pkey PRIMARY KEY (id),
  constraint queue_rank CHECK (((rank >= 0) AND (rank <= 2))),
  constraint queue_schedule CHECK ((is_resend OR (id = delivery_id)))
) with (autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000, fillfactor=70);
CREATE INDEX queue_lane ON queue USING btree (lane_id, rank, due_at);
CREATE INDEX queue_recovery ON queue USING btree (recovery_id) WHERE recovery_id IS NOT NULL;
CREATE INDEX queue_resends ON queue USING btree (lane_id, rank, due_at) WHERE is_resend;
CREATE INDEX queue_resent_deliveries ON queue USING btree (delivery_id) WHERE is_resend;

create table recoveries (
  id uuid not null,
  account_id uuid not null,
  application_id uuid,
  endpoint_id uuid,
  event text,
  statuses text[] not null,
  created_from timestamp(3) with time zone not null,
  created_until timestamp(3) with time zone not null,
  rate_per_second integer not null,
  status text default 'running'::text not null,
  "position" uuid,
  queued_count integer default 0 not null,
  succeeded_count integer default 0 not null,
  failed_count integer default 0 not null,
  requested_by text not null,
  created_at timestamp(3) with time zone default now() not null,
  ended_at timestamp(3) with time zone,
  fingerprint bytea not null,
  paced_at timestamp(3) with time zone default now() not null,
  constraint recoveries_pkey PRIMARY KEY (id),
  constraint recoveries_rate CHECK (((rate_per_second >= 1) AND (rate_per_second <= 1000))),
  constraint recoveries_status CHECK ((status = ANY (ARRAY['running'::text, 'sending'::text, 'completed'::text, 'canceled'::text])))
);
CREATE INDEX recoveries_by_time ON recoveries USING btree (created_at DESC, id DESC);
CREATE INDEX recoveries_running ON recoveries USING btree (id) WHERE status = ANY (ARRAY['running'::text, 'sending'::text]);

create table set_aside_events (
  account_id uuid not null,
  event_id uuid not null,
  application_id uuid,
  type text not null,
  resource_id uuid not null,
  source text not null,
  sequence integer not null,
  occurred_at timestamp(3) with time zone not null,
  traceparent text,
  has_own_url boolean not null,
  body_rest bytea not null,
  constraint set_aside_events_pkey PRIMARY KEY (account_id, event_id)
) with (autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000);

CREATE OR REPLACE FUNCTION webhook_dispatcher.drop_old_history_partitions(keep_days integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET "TimeZone" TO 'UTC'
 SET lock_timeout TO '100ms'
 SET search_path TO 'webhook_dispatcher'
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION webhook_dispatcher.ensure_history_partitions(weeks_ahead integer)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET "TimeZone" TO 'UTC'
 SET lock_timeout TO '1s'
 SET search_path TO 'webhook_dispatcher'
AS $function$
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
          'create table %s (like %I.%I including defaults including constraints including storage)'
          ' with (fillfactor = %s, autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0)',
          partition,
          schema,
          parent,
          -- Each delivery is updated once, the others never.
          case parent when 'deliveries' then 60 else 100 end
        );
        -- Rights on the parent are what counts; a partition by its own name would be a way around them.
        execute format('revoke all on %s from %I', partition, 'pixmesh_' || schema);
        execute format(
          'alter table %I.%I attach partition %s for values from (%L) to (%L)',
          schema,
          parent,
          partition,
          coalesce(lower_bound, uuid_v7_floor(week)),
          upper_bound
        );
        lower_bound := upper_bound;
      end if;
      week := week + interval '1 week';
    end loop;
  end loop;
end
$function$;

CREATE OR REPLACE FUNCTION webhook_dispatcher.history_partitions(parent regclass)
 RETURNS TABLE(partition regclass, upper_bound uuid)
 LANGUAGE sql
 STABLE
 SET search_path TO 'webhook_dispatcher'
AS $function$
  select
    pg_class.oid::regclass,
    substring(pg_get_expr(relpartbound, pg_class.oid) from 'TO \(''([0-9a-f-]+)''\)')::uuid
  from pg_inherits
  join pg_class on pg_class.oid = inhrelid
  where inhparent = parent
$function$;

CREATE OR REPLACE FUNCTION webhook_dispatcher.note_unsent_insert()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.unsent := new.status;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION webhook_dispatcher.note_unsent_update()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'webhook_dispatcher'
AS $function$
begin
  update deliveries
  set unsent = case when new.status in ('failed', 'skipped', 'canceled') then new.status end
  where id = new.id;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION webhook_dispatcher.note_use_of_destination()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'webhook_dispatcher'
AS $function$
begin
  update destinations
  set used_at = now()
  where resource_id = new.resource_id
    and used_at < now() - interval '30 days';
  return new;
end
$function$;

CREATE TRIGGER deliveries_unsent_insert BEFORE INSERT ON deliveries FOR EACH ROW WHEN (new.status = ANY (ARRAY['failed'::text, 'skipped'::text, 'canceled'::text])) EXECUTE FUNCTION note_unsent_insert();

CREATE TRIGGER deliveries_unsent_update AFTER UPDATE OF status ON deliveries FOR EACH ROW WHEN (old.status IS DISTINCT FROM new.status AND ((old.status = ANY (ARRAY['failed'::text, 'skipped'::text, 'canceled'::text])) OR (new.status = ANY (ARRAY['failed'::text, 'skipped'::text, 'canceled'::text])))) EXECUTE FUNCTION note_unsent_update();

CREATE TRIGGER destinations_use BEFORE INSERT ON destinations FOR EACH ROW EXECUTE FUNCTION note_use_of_destination();

grant delete, insert, select, update on delivery_rates to pixmesh_webhook_dispatcher;
grant delete, insert, select, update on destinations to pixmesh_webhook_dispatcher;
grant delete, insert, select, update on processes to pixmesh_webhook_dispatcher;
grant delete, insert, select, update on queue to pixmesh_webhook_dispatcher;
grant delete, insert, select, update on set_aside_events to pixmesh_webhook_dispatcher;
grant insert, select on attempts to pixmesh_webhook_dispatcher;
grant insert, select, update on applications to pixmesh_webhook_dispatcher;
grant insert, select, update on deliveries to pixmesh_webhook_dispatcher;
grant insert, select, update on endpoint_health to pixmesh_webhook_dispatcher;
grant insert, select, update on endpoints to pixmesh_webhook_dispatcher;
grant insert, select, update on lanes to pixmesh_webhook_dispatcher;
grant insert, select, update on recoveries to pixmesh_webhook_dispatcher;
