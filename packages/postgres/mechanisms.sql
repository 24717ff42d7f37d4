-- What services share: outbox, dead letters, message schemas, reconciliation.

create table acquirer_lists (
  name text not null,
  listed_until timestamp(3) with time zone default now() not null,
  window_from timestamp(3) with time zone,
  window_to timestamp(3) with time zone,
  began_at timestamp(3) with time zone,
  page integer default 0 not null,
  check_at timestamp(3) with time zone default now(),
  checks integer default 0 not null,
  check_traceparent text,
  lease_token uuid,
  lease_until timestamp(3) with time zone,
  constraint acquirer_lists_pkey PRIMARY KEY (name),
  constraint acquirer_lists_window CHECK ((((window_from IS NULL) = (window_to IS NULL)) AND ((window_from IS NULL) = (began_at IS NULL)) AND ((window_from IS NOT NULL) OR (page = 0)) AND (page >= 0)))
);

create table dead_letters (
  id uuid not null,
  consumer text not null,
  topic text not null,
  partition integer not null,
  "offset" bigint not null,
  key text,
  headers json not null,
  value bytea,
  code text not null,
  reason text not null,
  created_at timestamp(3) with time zone default now() not null,
  replayed_at timestamp(3) with time zone,
  dismissed_at timestamp(3) with time zone,
  dismissed_by uuid,
  dismissed_reason text,
  constraint dead_letters_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX dead_letters_message ON dead_letters USING btree (consumer, topic, partition, "offset", COALESCE(sha256(value), '\x'::bytea));
CREATE INDEX dead_letters_open ON dead_letters USING btree (id DESC) WHERE replayed_at IS NULL;
CREATE INDEX dead_letters_outbox ON dead_letters USING btree (topic, key) WHERE consumer = 'outbox'::text AND replayed_at IS NULL;

create table events (
  event_id uuid not null,
  topic text not null,
  key text not null,
  type text not null,
  sequence integer,
  headers json,
  message json not null,
  traceparent text,
  constraint events_pkey PRIMARY KEY (event_id)
) partition by range (event_id);
CREATE INDEX events_numbered ON ONLY events USING btree (topic, key, sequence) WHERE sequence IS NOT NULL OR (topic = ANY (ARRAY['charges.events.v1'::text, 'payouts.events.v1'::text]));

create table leases (
  name text not null,
  queue_version bigint default 0 not null,
  constraint leases_pkey PRIMARY KEY (name)
);

create table message_schemas (
  subject text not null,
  id integer not null,
  schema text not null,
  constraint message_schemas_pkey PRIMARY KEY (subject, id)
);

create table outbox (
  id bigint generated always as identity not null,
  event_id uuid not null,
  is_resend boolean default false not null,
  xact xid8 default pg_current_xact_id() not null,
  constraint outbox_pkey PRIMARY KEY (id)
) with (autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000);
CREATE INDEX outbox_event ON outbox USING btree (event_id);

create table reconciliation_breaks (
  check_name text not null,
  kind text not null,
  id text not null,
  expected text,
  found text,
  amount bigint,
  changed_at timestamp(3) with time zone,
  since timestamp(3) with time zone default now() not null,
  is_pending boolean not null,
  account_id uuid,
  constraint reconciliation_breaks_pkey PRIMARY KEY (check_name, kind, id)
);

create table reconciliation_full_lease (
  only_row boolean default true not null,
  lease_token uuid,
  lease_until timestamp(3) with time zone,
  requested_at timestamp with time zone,
  started_at timestamp with time zone,
  compared bigint,
  finished_at timestamp(3) with time zone,
  constraint reconciliation_full_lease_pkey PRIMARY KEY (only_row),
  constraint reconciliation_full_lease_only_row CHECK (only_row)
);

create table reconciliation_lease (
  only_row boolean default true not null,
  lease_token uuid,
  lease_until timestamp(3) with time zone,
  due_at timestamp(3) with time zone default now() not null,
  started_at timestamp(3) with time zone,
  finished_at timestamp(3) with time zone,
  full_requested_at timestamp with time zone,
  run_started_at timestamp with time zone,
  run_is_full boolean,
  run_compared bigint,
  constraint reconciliation_lease_pkey PRIMARY KEY (only_row),
  constraint reconciliation_lease_only_row CHECK (only_row)
);

create table reconciliation_runs (
  check_name text not null,
  compared bigint not null,
  watermark timestamp(3) with time zone,
  full_at timestamp(3) with time zone,
  finished_at timestamp(3) with time zone not null,
  account_breaks integer default 0 not null,
  account_breaks_grew_at timestamp(3) with time zone,
  constraint reconciliation_runs_pkey PRIMARY KEY (check_name)
);

create table return_contradictions (
  end_to_end_id text not null,
  return_id text not null,
  status text not null,
  seen_at timestamp(3) with time zone default now() not null,
  constraint return_contradictions_pkey PRIMARY KEY (end_to_end_id, return_id),
  constraint return_contradictions_status CHECK ((status = ANY (ARRAY['processing'::text, 'failed'::text])))
);

create table unanswered_commands (
  command_id uuid not null,
  event_id uuid not null,
  sent_at timestamp(3) with time zone default now() not null,
  constraint unanswered_commands_pkey PRIMARY KEY (command_id, event_id)
) with (autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000);

CREATE OR REPLACE FUNCTION mechanisms.ensure_event_partitions(months_ahead integer)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET "TimeZone" TO 'UTC'
 SET lock_timeout TO '1s'
 SET search_path TO 'mechanisms'
AS $function$
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
        'create table %s (like %I.events including defaults including constraints including storage)',
        partition,
        schema
      );
      -- Rights on the parent are what counts; a partition by its own name would be a way around them.
      execute format('revoke all on %s from %I', partition, 'pixmesh_' || schema);
      execute format(
        'alter table %I.events attach partition %s for values from (%L) to (%L)',
        schema,
        partition,
        uuid_v7_floor(month),
        uuid_v7_floor(month + interval '1 month')
      );
    end if;
    month := month + interval '1 month';
  end loop;
end
$function$;

CREATE OR REPLACE FUNCTION mechanisms.uuid_v7_floor(instant timestamp with time zone)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE
RETURN ((lpad(to_hex(((EXTRACT(epoch FROM instant) * (1000)::numeric))::bigint), 12, '0'::text) || '70008000000000000000'::text))::uuid;

grant delete, insert, select on outbox to pixmesh_mechanisms;
grant delete, insert, select, update on dead_letters to pixmesh_mechanisms;
grant delete, insert, select, update on reconciliation_breaks to pixmesh_mechanisms;
grant delete, insert, select, update on reconciliation_runs to pixmesh_mechanisms;
grant delete, insert, select, update on return_contradictions to pixmesh_mechanisms;
grant delete, insert, select, update on unanswered_commands to pixmesh_mechanisms;
grant insert, select on events to pixmesh_mechanisms;
grant insert, select, update on acquirer_lists to pixmesh_mechanisms;
grant select on message_schemas to pixmesh_mechanisms;
grant select, update on leases to pixmesh_mechanisms;
grant select, update on reconciliation_full_lease to pixmesh_mechanisms;
grant select, update on reconciliation_lease to pixmesh_mechanisms;
