-- Schema gateway: the sum of its migrations. Written by a test; UPDATE_GOLDEN=1 refreshes it.
-- As in packages/postgres/mechanisms.sql: table dead_letters, table events, table leases, table message_schemas, table outbox, table reconciliation_breaks, table reconciliation_full_lease, table reconciliation_lease, table reconciliation_runs, table unanswered_commands, function ensure_event_partitions, function uuid_v7_floor, grant on outbox, grant on dead_letters, grant on reconciliation_breaks, grant on reconciliation_runs, grant on unanswered_commands, grant on events, grant on message_schemas, grant on leases, grant on reconciliation_full_lease, grant on reconciliation_lease.

create table accounts (
  id uuid not null,
  name text not null,
  legal_name text not null,
  document text not null,
  document_type text not null,
  phone text not null,
  status text not null,
  onboarding_status text not null,
  auto_payout_enabled boolean not null,
  payouts_enabled boolean not null,
  payout_fee bigint not null,
  charge_expires_in integer not null,
  release_delay_seconds integer not null,
  late_payment_policy text not null,
  created_at timestamp(3) with time zone default now() not null,
  requests_per_minute_max integer,
  requests_in_flight_max integer,
  endpoints_max integer,
  deliveries_per_second_max integer,
  limits_version integer default 0 not null,
  constraint accounts_pkey PRIMARY KEY (id),
  constraint accounts_charge_expires_in CHECK (((charge_expires_in >= 60) AND (charge_expires_in <= 604800))),
  constraint accounts_document_type CHECK ((document_type = ANY (ARRAY['cpf'::text, 'cnpj'::text]))),
  constraint accounts_late_payment_policy CHECK ((late_payment_policy = ANY (ARRAY['accept'::text, 'suspense'::text]))),
  constraint accounts_limits CHECK (((requests_per_minute_max >= 1) AND (requests_in_flight_max >= 1) AND (endpoints_max >= 1) AND (deliveries_per_second_max >= 1))),
  constraint accounts_onboarding_status CHECK ((onboarding_status = ANY (ARRAY['pending'::text, 'in_review'::text, 'approved'::text, 'rejected'::text]))),
  constraint accounts_payout_fee CHECK ((payout_fee >= 0)),
  constraint accounts_rejected_is_inactive CHECK (((onboarding_status <> 'rejected'::text) OR (status = 'inactive'::text))),
  constraint accounts_release_delay CHECK ((release_delay_seconds >= 0)),
  constraint accounts_status CHECK ((status = ANY (ARRAY['active'::text, 'inactive'::text])))
);
CREATE INDEX accounts_newest ON accounts USING btree (created_at DESC, id DESC);

create table api_keys (
  id uuid not null,
  application_id uuid not null,
  public_id text not null,
  digest bytea not null,
  pepper_version smallint default 1 not null,
  name text not null,
  scopes text[] not null,
  suspended boolean default false not null,
  expires_at timestamp(3) with time zone,
  revoked_at timestamp(3) with time zone,
  fingerprint bytea not null,
  created_at timestamp(3) with time zone default now() not null,
  requests_per_minute_max integer,
  requests_in_flight_max integer,
  constraint api_keys_pkey PRIMARY KEY (id),
  constraint api_keys_application FOREIGN KEY (application_id) REFERENCES applications(id),
  constraint api_keys_digest CHECK ((octet_length(digest) = 32)),
  constraint api_keys_limits CHECK (((requests_per_minute_max >= 1) AND (requests_in_flight_max >= 1))),
  constraint api_keys_public_id UNIQUE (public_id)
);
CREATE INDEX api_keys_in_use ON api_keys USING btree (created_at DESC, id DESC) WHERE revoked_at IS NULL;
CREATE INDEX api_keys_limited ON api_keys USING btree (application_id, created_at DESC, id DESC) WHERE (requests_per_minute_max IS NOT NULL OR requests_in_flight_max IS NOT NULL) AND revoked_at IS NULL;
CREATE INDEX api_keys_newest ON api_keys USING btree (application_id, created_at DESC, id DESC);

create table applications (
  id uuid not null,
  account_id uuid not null,
  name text not null,
  active boolean not null,
  fingerprint bytea not null,
  created_at timestamp(3) with time zone default now() not null,
  version integer default 0 not null,
  active_changed_at timestamp(3) with time zone default now(),
  constraint applications_pkey PRIMARY KEY (id),
  constraint applications_account FOREIGN KEY (account_id) REFERENCES accounts(id)
);
CREATE INDEX applications_newest ON applications USING btree (account_id, created_at DESC, id DESC);

create table audit_log (
  id uuid not null,
  actor text not null,
  action text not null,
  target_kind text not null,
  target_id text not null,
  digest_before bytea,
  digest_after bytea,
  created_at timestamp(3) with time zone default now() not null,
  client_address text,
  constraint audit_log_pkey PRIMARY KEY (id)
);
CREATE INDEX audit_log_target ON audit_log USING btree (target_id, id DESC);

create table callbacks (
  id uuid not null,
  body bytea not null,
  parsed boolean not null,
  items integer not null,
  items_skipped integer not null,
  received_at timestamp(3) with time zone default now() not null,
  sha256 bytea,
  constraint callbacks_pkey PRIMARY KEY (id)
);
CREATE INDEX callbacks_unreadable ON callbacks USING btree (id DESC) WHERE NOT parsed OR items_skipped > 0;

create table operators (
  id uuid not null,
  name text not null,
  token_digest bytea not null,
  created_at timestamp(3) with time zone default now() not null,
  removed_at timestamp(3) with time zone,
  constraint operators_pkey PRIMARY KEY (id),
  constraint operators_token_digest UNIQUE (token_digest),
  constraint operators_token_digest_length CHECK ((octet_length(token_digest) = 32))
);
CREATE INDEX operators_newest ON operators USING btree (created_at DESC, id DESC) WHERE removed_at IS NULL;

create table request_log (
  id uuid not null,
  account_id uuid,
  application_id uuid,
  key_id uuid,
  method text,
  route text,
  status smallint not null,
  duration_ms integer not null,
  request_id uuid not null,
  idempotency_mismatch boolean not null,
  created_at timestamp(3) with time zone not null,
  trace_id text,
  client_address text,
  constraint request_log_pkey PRIMARY KEY (id)
) partition by range (id);
CREATE INDEX request_log_account ON ONLY request_log USING btree (account_id, id DESC) WHERE account_id IS NOT NULL;
CREATE INDEX request_log_application ON ONLY request_log USING btree (application_id, id DESC) WHERE application_id IS NOT NULL;
CREATE INDEX request_log_key ON ONLY request_log USING btree (key_id, id DESC) WHERE key_id IS NOT NULL;
CREATE INDEX request_log_refused ON ONLY request_log USING btree (status, id DESC) WHERE status >= 300;
CREATE INDEX request_log_route ON ONLY request_log USING btree (route, id DESC);

CREATE OR REPLACE FUNCTION gateway.announce_application(changed uuid)
 RETURNS void
 LANGUAGE sql
 SET search_path TO 'gateway'
AS $function$
  with counted as (
    update applications
    set version = version + 1
    where id = changed
    returning
      uuidv7() as event_id, id, account_id, active, version,
      coalesce(active_changed_at, clock_timestamp()) as occurred_at
  ),
  -- In the form of `application.changed`.
  appended as (
    insert into events (event_id, topic, key, type, message)
    select
      event_id, 'accounts.events.v1', account_id::text, 'application.changed',
      json_build_object(
        'event_id', event_id,
        'type', 'application.changed',
        'version', 1,
        'occurred_at', to_char(occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'account_id', account_id,
        'application_id', id,
        'data', json_build_object('application_id', id, 'active', active, 'version', version)
      )
    from counted
  )
  insert into outbox (event_id)
  select event_id from counted;
$function$;

CREATE OR REPLACE FUNCTION gateway.announce_uncounted_application()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'gateway'
AS $function$
begin
  perform announce_application(new.id);
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION gateway.drop_old_request_log_partitions(keep_days integer)
 RETURNS integer
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET "TimeZone" TO 'UTC'
 SET search_path TO 'gateway'
 SET lock_timeout TO '100ms'
AS $function$
declare
  old record;
  dropped integer := 0;
begin
  if keep_days is null or keep_days < 7 then
    raise exception 'the request log is kept for 7 days at least' using errcode = 'check_violation';
  end if;
  for old in
    select partition
    from request_log_partitions()
    where upper_bound <= uuid_v7_floor(now() - make_interval(days => keep_days))
  loop
    execute format('drop table %s', old.partition);
    dropped := dropped + 1;
  end loop;
  return dropped;
end
$function$;

CREATE OR REPLACE FUNCTION gateway.ensure_request_log_partitions(weeks_ahead integer)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET "TimeZone" TO 'UTC'
 SET lock_timeout TO '1s'
 SET search_path TO 'gateway'
AS $function$
declare
  schema constant text := current_schema;
  week timestamptz := date_trunc('week', now());
  partition text;
begin
  perform pg_advisory_xact_lock(hashtext('request-log-partitions ' || schema));
  while week <= now() + make_interval(weeks => weeks_ahead) loop
    partition := format('%I.%I', schema, 'request_log_' || to_char(week, 'YYYYMMDD'));
    -- The first partition ends within a week; what it covers needs no other.
    if to_regclass(partition) is null and not exists (
      select
      from request_log_partitions()
      where upper_bound > uuid_v7_floor(week)
    ) then
      execute format(
        'create table %s (like %I.request_log including defaults including constraints including storage)'
        ' with (autovacuum_vacuum_insert_scale_factor = 0.05)',
        partition,
        schema
      );
      execute format('revoke all on %s from %I', partition, 'pixmesh_' || schema);
      execute format(
        'alter table %I.request_log attach partition %s for values from (%L) to (%L)',
        schema,
        partition,
        uuid_v7_floor(week),
        uuid_v7_floor(week + interval '1 week')
      );
    end if;
    week := week + interval '1 week';
  end loop;
end
$function$;

CREATE OR REPLACE FUNCTION gateway.keep_active_changed_at()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'gateway'
AS $function$
begin
  new.active_changed_at := clock_timestamp();
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION gateway.request_log_partitions()
 RETURNS TABLE(partition regclass, upper_bound uuid)
 LANGUAGE sql
 STABLE
 SET search_path TO 'gateway'
AS $function$
  select
    pg_class.oid::regclass,
    substring(pg_get_expr(relpartbound, pg_class.oid) from 'TO \(''([0-9a-f-]+)''\)')::uuid
  from pg_inherits
  join pg_class on pg_class.oid = inhrelid
  where inhparent = 'request_log'::regclass
$function$;

CREATE TRIGGER applications_active_changed BEFORE UPDATE ON applications FOR EACH ROW WHEN (new.active IS DISTINCT FROM old.active) EXECUTE FUNCTION keep_active_changed_at();

CREATE TRIGGER applications_uncounted_change AFTER UPDATE ON applications FOR EACH ROW WHEN (new.active IS DISTINCT FROM old.active AND new.version = old.version) EXECUTE FUNCTION announce_uncounted_application();

CREATE TRIGGER applications_uncounted_creation AFTER INSERT ON applications FOR EACH ROW WHEN (new.version = 0) EXECUTE FUNCTION announce_uncounted_application();

grant insert, select on audit_log to pixmesh_gateway;
grant insert, select on callbacks to pixmesh_gateway;
grant insert, select on request_log to pixmesh_gateway;
grant insert, select, update on accounts to pixmesh_gateway;
grant insert, select, update on api_keys to pixmesh_gateway;
grant insert, select, update on applications to pixmesh_gateway;
grant insert, select, update on operators to pixmesh_gateway;
