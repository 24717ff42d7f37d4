-- Schema ledger: the sum of its migrations. Written by a test; UPDATE_GOLDEN=1 refreshes it.

create type account_kind as enum ('available', 'pending', 'held', 'blocked', 'suspense', 'acquirer_clearing');

create table accounts (
  account_id uuid not null,
  kind account_kind not null,
  balance bigint default 0 not null,
  forced_debit bigint default 0 not null,
  version bigint default 0 not null,
  constraint accounts_pkey PRIMARY KEY (account_id, kind),
  constraint accounts_available_floor CHECK (((kind <> 'available'::account_kind) OR ((balance + forced_debit) >= 0))),
  constraint accounts_forced_debit CHECK ((forced_debit >= 0)),
  constraint accounts_parts_floor CHECK (((kind = ANY (ARRAY['available'::account_kind, 'acquirer_clearing'::account_kind])) OR (balance >= 0)))
) with (fillfactor=50);

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

create table entries (
  journal_id uuid not null,
  account_id uuid not null,
  kind account_kind not null,
  amount bigint not null,
  balance_after bigint not null,
  version bigint not null,
  constraint entries_pkey PRIMARY KEY (account_id, kind, version),
  constraint entries_amount CHECK ((amount <> 0))
);
CREATE INDEX entries_journal ON entries USING btree (journal_id);

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

create table journals (
  id uuid not null,
  command_id uuid not null,
  fingerprint bytea not null,
  kind text not null,
  account_id uuid not null,
  resource_id uuid,
  outcome json not null,
  created_at timestamp(3) with time zone default now() not null,
  constraint journals_pkey PRIMARY KEY (id),
  constraint journals_command UNIQUE (command_id)
);
CREATE INDEX journals_account ON journals USING btree (account_id, id);

create table leases (
  name text not null,
  constraint leases_pkey PRIMARY KEY (name)
);

create table outbox (
  id bigint generated always as identity not null,
  event_id uuid not null,
  constraint outbox_pkey PRIMARY KEY (id)
) with (autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000);

create table releases (
  journal_id uuid not null,
  account_id uuid not null,
  amount bigint not null,
  release_at timestamp(3) with time zone not null,
  constraint releases_pkey PRIMARY KEY (journal_id)
);
CREATE INDEX releases_due ON releases USING btree (release_at);

create table suspense_items (
  id uuid not null,
  account_id uuid not null,
  end_to_end_id text not null,
  charge_id uuid,
  amount bigint not null,
  reason text not null,
  created_at timestamp(3) with time zone default now() not null,
  resolved_at timestamp(3) with time zone,
  constraint suspense_items_pkey PRIMARY KEY (id)
);
CREATE INDEX suspense_items_open ON suspense_items USING btree (id) WHERE resolved_at IS NULL;

CREATE OR REPLACE FUNCTION ledger.ensure_event_partitions(months_ahead integer)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET "TimeZone" TO 'UTC'
 SET search_path TO 'ledger'
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

CREATE OR REPLACE FUNCTION ledger.refuse_unbalanced_journals()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
declare
  unbalanced uuid;
begin
  select journal_id into unbalanced from inserted group by journal_id having sum(amount) <> 0 limit 1;
  if found then
    raise exception 'journal % does not net to zero', unbalanced
      using errcode = 'check_violation', constraint = 'entries_balanced';
  end if;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION ledger.uuid_v7_floor(instant timestamp with time zone)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE
RETURN ((lpad(to_hex(((EXTRACT(epoch FROM instant) * (1000)::numeric))::bigint), 12, '0'::text) || '70008000000000000000'::text))::uuid;

CREATE TRIGGER entries_balanced AFTER INSERT ON entries REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION refuse_unbalanced_journals();

grant delete, insert, select on outbox to pixmesh_ledger;
grant delete, insert, select, update on dead_letters to pixmesh_ledger;
grant delete, insert, select, update on releases to pixmesh_ledger;
grant insert, select on entries to pixmesh_ledger;
grant insert, select on events to pixmesh_ledger;
grant insert, select on journals to pixmesh_ledger;
grant insert, select, update on accounts to pixmesh_ledger;
grant insert, select, update on suspense_items to pixmesh_ledger;
grant select, update on leases to pixmesh_ledger;
