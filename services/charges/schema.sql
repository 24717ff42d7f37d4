-- Schema charges: the sum of its migrations. Written by a test; UPDATE_GOLDEN=1 refreshes it.

create table charges (
  id uuid not null,
  account_id uuid not null,
  application_id uuid,
  source text not null,
  status text not null,
  amount bigint not null,
  description text,
  reference text,
  customer_name text,
  customer_email text,
  customer_document text,
  customer_phone text,
  webhook_url text,
  webhook_sealed_secret text,
  expires_in integer not null,
  late_payment_policy text not null,
  release_delay_seconds integer not null,
  fingerprint bytea not null,
  br_code text,
  location text,
  accepted_e2e text,
  end_to_end_id text,
  failure_reason text,
  created_at timestamp(3) with time zone not null,
  expires_at timestamp(3) with time zone not null,
  paid_at timestamp(3) with time zone,
  version integer default 0 not null,
  event_sequence integer default 0 not null,
  unanswered_puts integer default 0 not null,
  last_put_at timestamp(3) with time zone,
  first_not_found_at timestamp(3) with time zone,
  uncounted_refusal text,
  check_at timestamp(3) with time zone,
  checks integer default 0 not null,
  check_traceparent text,
  lease_token uuid,
  lease_until timestamp(3) with time zone,
  constraint charges_pkey PRIMARY KEY (id),
  constraint charges_amount CHECK (((amount >= 1) AND (amount <= '999999999999'::bigint))),
  constraint charges_failure_reason CHECK (((status = 'failed'::text) = (failure_reason IS NOT NULL))),
  constraint charges_source CHECK ((source = ANY (ARRAY['api'::text, 'dashboard'::text, 'checkout'::text]))),
  constraint charges_status CHECK ((status = ANY (ARRAY['processing'::text, 'pending'::text, 'paid'::text, 'canceled'::text, 'failed'::text, 'refunded'::text, 'charged_back'::text, 'infraction'::text])))
) with (fillfactor=80);
CREATE UNIQUE INDEX charges_accepted_e2e ON charges USING btree (accepted_e2e) WHERE accepted_e2e IS NOT NULL;
CREATE INDEX charges_check_at ON charges USING btree (check_at) WHERE check_at IS NOT NULL;
CREATE INDEX charges_list ON charges USING btree (account_id, created_at, id) WHERE source = 'api'::text;
CREATE INDEX charges_list_by_class ON charges USING btree (account_id, list_class(source, status, accepted_e2e, created_at, expires_at), created_at, id, expires_at) WHERE list_class(source, status, accepted_e2e, created_at, expires_at) IS NOT NULL;

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
  constraint dead_letters_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX dead_letters_message ON dead_letters USING btree (consumer, topic, partition, "offset", COALESCE(sha256(value), '\x'::bytea));
CREATE INDEX dead_letters_open ON dead_letters USING btree (id DESC) WHERE replayed_at IS NULL;

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
CREATE INDEX events_key ON ONLY events USING btree (topic, key, sequence);

create table leases (
  name text not null,
  constraint leases_pkey PRIMARY KEY (name)
);

create table outbox (
  id bigint generated always as identity not null,
  event_id uuid not null,
  constraint outbox_pkey PRIMARY KEY (id)
) with (autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000);

create table received_pix (
  end_to_end_id text not null,
  charge_id uuid not null,
  account_id uuid not null,
  amount bigint not null,
  paid_at timestamp(3) with time zone not null,
  disposition text not null,
  reason text,
  recorded_at timestamp(3) with time zone default now() not null,
  constraint received_pix_pkey PRIMARY KEY (end_to_end_id),
  constraint received_pix_disposition CHECK ((((disposition = 'credit'::text) AND (reason IS NULL)) OR ((disposition = 'suspense'::text) AND (reason IS NOT NULL))))
);
CREATE INDEX received_pix_charge ON received_pix USING btree (charge_id);
CREATE INDEX received_pix_paid_at ON received_pix USING brin (paid_at) WITH (pages_per_range='16', autosummarize='on');

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
  constraint reconciliation_breaks_pkey PRIMARY KEY (check_name, kind, id)
);

create table reconciliation_lease (
  only_row boolean default true not null,
  lease_token uuid,
  lease_until timestamp(3) with time zone,
  due_at timestamp(3) with time zone default now() not null,
  started_at timestamp(3) with time zone,
  finished_at timestamp(3) with time zone,
  constraint reconciliation_lease_pkey PRIMARY KEY (only_row),
  constraint reconciliation_lease_only_row CHECK (only_row)
);

create table reconciliation_runs (
  check_name text not null,
  compared bigint not null,
  watermark timestamp(3) with time zone,
  full_at timestamp(3) with time zone,
  finished_at timestamp(3) with time zone not null,
  constraint reconciliation_runs_pkey PRIMARY KEY (check_name)
);

CREATE OR REPLACE FUNCTION charges.ensure_event_partitions(months_ahead integer)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET "TimeZone" TO 'UTC'
 SET search_path TO 'charges'
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
$function$;

CREATE OR REPLACE FUNCTION charges.lifetime_steps()
 RETURNS integer[]
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN ARRAY[0, 60, 61, 120, 121, 180, 181, 300, 301, 600, 601, 900, 901, 1200, 1201, 1800, 1801, 2700, 2701, 3600, 3601, 5400, 5401, 7200, 7201, 10800, 10801, 14400, 14401, 21600, 21601, 28800, 28801, 43200, 43201, 64800, 64801, 86400, 86401, 129600, 129601, 172800, 172801, 259200, 259201, 345600, 345601, 432000, 432001, 518400, 518401, 604800, 604801];

CREATE OR REPLACE FUNCTION charges.list_class(source text, status text, accepted_e2e text, created_at timestamp with time zone, expires_at timestamp with time zone)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN (source <> 'api'::text) THEN NULL::text WHEN (status <> 'pending'::text) THEN status WHEN (accepted_e2e IS NOT NULL) THEN 'accepted'::text ELSE ('open '::text || ((lifetime_steps())[width_bucket(GREATEST(EXTRACT(epoch FROM (expires_at - created_at)), (0)::numeric), (lifetime_steps())::numeric[])])::text) END;

CREATE OR REPLACE FUNCTION charges.uuid_v7_floor(instant timestamp with time zone)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE
RETURN ((lpad(to_hex(((EXTRACT(epoch FROM instant) * (1000)::numeric))::bigint), 12, '0'::text) || '70008000000000000000'::text))::uuid;

grant delete, insert, select on outbox to pixmesh_charges;
grant delete, insert, select, update on dead_letters to pixmesh_charges;
grant delete, insert, select, update on reconciliation_breaks to pixmesh_charges;
grant delete, insert, select, update on reconciliation_runs to pixmesh_charges;
grant insert, select on events to pixmesh_charges;
grant insert, select on received_pix to pixmesh_charges;
grant insert, select, update on charges to pixmesh_charges;
grant select, update on leases to pixmesh_charges;
grant select, update on reconciliation_lease to pixmesh_charges;
