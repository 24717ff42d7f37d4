-- Schema charges: the sum of its migrations. Written by a test; UPDATE_GOLDEN=1 refreshes it.
-- As in packages/postgres/mechanisms.sql: table acquirer_lists, table dead_letters, table events, table leases, table message_schemas, table outbox, table reconciliation_breaks, table reconciliation_full_lease, table reconciliation_lease, table reconciliation_runs, table return_contradictions, table unanswered_commands, function ensure_event_partitions, function uuid_v7_floor, grant on outbox, grant on dead_letters, grant on reconciliation_breaks, grant on reconciliation_runs, grant on return_contradictions, grant on unanswered_commands, grant on events, grant on acquirer_lists, grant on message_schemas, grant on leases, grant on reconciliation_full_lease, grant on reconciliation_lease.

create table charge_history (
  charge_id uuid not null,
  version integer not null,
  at timestamp(3) with time zone default now() not null,
  from_status text,
  to_status text not null,
  cause text not null,
  detail text,
  constraint charge_history_pkey PRIMARY KEY (charge_id, version)
);

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
  refunded_amount bigint default 0 not null,
  default_expires_in integer,
  last_check_at timestamp(3) with time zone,
  last_check_answer text,
  last_put_error text,
  constraint charges_pkey PRIMARY KEY (id),
  constraint charges_amount CHECK (((amount >= 1) AND (amount <= '999999999999'::bigint))),
  constraint charges_failure_reason CHECK (((status = 'failed'::text) = (failure_reason IS NOT NULL))),
  constraint charges_refunded_amount CHECK (((refunded_amount >= 0) AND (refunded_amount <= amount))),
  constraint charges_source CHECK ((source = ANY (ARRAY['api'::text, 'dashboard'::text, 'checkout'::text]))),
  constraint charges_status CHECK ((status = ANY (ARRAY['processing'::text, 'pending'::text, 'paid'::text, 'canceled'::text, 'failed'::text, 'refunded'::text, 'charged_back'::text, 'infraction'::text])))
) with (fillfactor=80);
CREATE INDEX charges_by_class ON charges USING btree (list_class('api'::text, status, accepted_e2e, created_at, expires_at), created_at, id, expires_at);
CREATE INDEX charges_check_at ON charges USING btree (check_at) WHERE check_at IS NOT NULL;
CREATE INDEX charges_issuing ON charges USING btree (account_id, check_at) WHERE status = 'processing'::text AND check_at IS NOT NULL;
CREATE INDEX charges_list ON charges USING btree (account_id, created_at, id) WHERE source = 'api'::text;
CREATE INDEX charges_list_by_class ON charges USING btree (account_id, list_class(source, status, accepted_e2e, created_at, expires_at), created_at, id, expires_at) WHERE list_class(source, status, accepted_e2e, created_at, expires_at) IS NOT NULL;
CREATE INDEX charges_reference ON charges USING btree (reference, created_at, id) WHERE reference IS NOT NULL;
CREATE INDEX charges_requested ON charges USING btree (account_id) WHERE check_at = '-infinity'::timestamp with time zone;
CREATE INDEX charges_unlisted ON charges USING btree (created_at, id) WHERE source <> 'api'::text;
CREATE INDEX charges_unlisted_of_account ON charges USING btree (account_id, created_at, id) WHERE source <> 'api'::text;

create table dispute_list (
  only_row boolean default true not null,
  listed_until timestamp(3) with time zone default now() not null,
  check_at timestamp(3) with time zone default now(),
  checks integer default 0 not null,
  check_traceparent text,
  lease_token uuid,
  lease_until timestamp(3) with time zone,
  whole_at timestamp(3) with time zone,
  constraint dispute_list_pkey PRIMARY KEY (only_row),
  constraint dispute_list_only_row_check CHECK (only_row)
);

create table dispute_messages (
  id uuid not null,
  dispute_id uuid not null,
  message text not null,
  requested_by uuid not null,
  created_at timestamp(3) with time zone default now() not null,
  constraint dispute_messages_pkey PRIMARY KEY (id)
);
CREATE INDEX dispute_messages_dispute ON dispute_messages USING btree (dispute_id, created_at);

create table disputes (
  id uuid not null,
  infraction_id text not null,
  charge_id uuid not null,
  account_id uuid not null,
  end_to_end_id text not null,
  amount bigint not null,
  status text not null,
  reason text not null,
  arrived_resolved boolean not null,
  opened_at timestamp(3) with time zone not null,
  defense_deadline_at timestamp(3) with time zone not null,
  resolved_at timestamp(3) with time zone,
  acquirer_status text not null,
  acquirer_decided_at timestamp(3) with time zone,
  block text not null,
  defense_text text,
  defense_sent_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone default now() not null,
  version integer default 0 not null,
  intended_defense text,
  intended_at timestamp(3) with time zone,
  constraint disputes_pkey PRIMARY KEY (id),
  constraint disputes_amount CHECK (((amount >= 1) AND (amount <= '999999999999'::bigint))),
  constraint disputes_block CHECK ((block = ANY (ARRAY['none'::text, 'standing'::text, 'ended'::text]))),
  constraint disputes_infraction_id_key UNIQUE (infraction_id),
  constraint disputes_intended CHECK (((intended_defense IS NULL) = (intended_at IS NULL))),
  constraint disputes_resolved CHECK (((status = ANY (ARRAY['won'::text, 'lost'::text])) = (resolved_at IS NOT NULL))),
  constraint disputes_status CHECK ((status = ANY (ARRAY['open'::text, 'under_review'::text, 'won'::text, 'lost'::text])))
);
CREATE INDEX disputes_blocked ON disputes USING btree (resolved_at) WHERE status = 'lost'::text AND block = 'standing'::text;
CREATE INDEX disputes_charge ON disputes USING btree (charge_id);
CREATE INDEX disputes_end_to_end_id ON disputes USING btree (end_to_end_id, opened_at);
CREATE INDEX disputes_intended ON disputes USING btree (infraction_id) WHERE intended_defense IS NOT NULL;
CREATE INDEX disputes_newest ON disputes USING btree (created_at, id);
CREATE INDEX disputes_newest_of_account ON disputes USING btree (account_id, created_at, id);
CREATE INDEX disputes_not_lost ON disputes USING btree (opened_at) WHERE status <> 'lost'::text;
CREATE UNIQUE INDEX disputes_open ON disputes USING btree (end_to_end_id) WHERE status = ANY (ARRAY['open'::text, 'under_review'::text]);

create table ignored_events (
  charge_id uuid not null,
  event text not null,
  detail text not null,
  status text not null,
  at timestamp(3) with time zone default now() not null,
  constraint ignored_events_pkey PRIMARY KEY (charge_id, event, detail)
);

create table med_return_times (
  end_to_end_id text not null,
  return_id text not null,
  settled_at timestamp(3) with time zone,
  constraint med_return_times_pkey PRIMARY KEY (end_to_end_id, return_id)
);

create table pix_notices (
  end_to_end_id text not null,
  noticed_at timestamp(3) with time zone default now() not null,
  outcome text,
  done_at timestamp(3) with time zone,
  check_at timestamp(3) with time zone,
  checks integer default 0 not null,
  check_traceparent text,
  lease_token uuid,
  lease_until timestamp(3) with time zone,
  constraint pix_notices_pkey PRIMARY KEY (end_to_end_id),
  constraint pix_notices_id CHECK (((length(end_to_end_id) >= 1) AND (length(end_to_end_id) <= 64))),
  constraint pix_notices_outcome CHECK (((outcome = ANY (ARRAY['suspended'::text, 'of_charge'::text, 'not_found'::text, 'foreign_key'::text])) AND ((outcome IS NULL) = (done_at IS NULL))))
) with (fillfactor=80);
CREATE INDEX pix_notices_check_at ON pix_notices USING btree (check_at) WHERE check_at IS NOT NULL;
CREATE INDEX pix_notices_done_at ON pix_notices USING btree (done_at) WHERE done_at IS NOT NULL;

create table pix_returns (
  end_to_end_id text not null,
  return_id text not null,
  charge_id uuid,
  amount bigint not null,
  nature text,
  refund_id uuid,
  disposition text not null,
  seen_at timestamp(3) with time zone default now() not null,
  constraint pix_returns_pkey PRIMARY KEY (end_to_end_id, return_id),
  constraint pix_returns_amount CHECK (((amount >= 1) AND (amount <= '999999999999'::bigint))),
  constraint pix_returns_disposition CHECK (((disposition = ANY (ARRAY['refund'::text, 'returned'::text, 'med'::text, 'suspense'::text, 'suspense_part'::text, 'unbooked'::text])) AND ((disposition = 'refund'::text) = (refund_id IS NOT NULL))))
);
CREATE INDEX pix_returns_charge ON pix_returns USING btree (charge_id) WHERE charge_id IS NOT NULL;
CREATE UNIQUE INDEX pix_returns_refund ON pix_returns USING btree (refund_id) WHERE refund_id IS NOT NULL;
CREATE INDEX pix_returns_seen_at ON pix_returns USING btree (seen_at);

create table received_pix (
  end_to_end_id text not null,
  charge_id uuid,
  account_id uuid,
  amount bigint not null,
  paid_at timestamp(3) with time zone not null,
  disposition text not null,
  reason text,
  recorded_at timestamp(3) with time zone default now() not null,
  constraint received_pix_pkey PRIMARY KEY (end_to_end_id),
  constraint received_pix_disposition CHECK ((((disposition = 'credit'::text) AND (reason IS NULL)) OR ((disposition = 'suspense'::text) AND (reason IS NOT NULL)))),
  constraint received_pix_owner CHECK ((((charge_id IS NULL) = (account_id IS NULL)) AND ((charge_id IS NULL) = (COALESCE(reason, ''::text) = 'unowned'::text))))
);
CREATE INDEX received_pix_charge ON received_pix USING btree (charge_id);
CREATE INDEX received_pix_paid_at ON received_pix USING brin (paid_at) WITH (pages_per_range='16', autosummarize='on');
CREATE INDEX received_pix_unowned ON received_pix USING btree (recorded_at) WHERE charge_id IS NULL;

create table refunds (
  id uuid not null,
  charge_id uuid not null,
  account_id uuid not null,
  end_to_end_id text not null,
  amount bigint not null,
  status text default 'intent'::text not null,
  failure_reason text,
  return_id text,
  hold_id uuid not null,
  requested_by uuid not null,
  fingerprint bytea not null,
  created_at timestamp(3) with time zone default now() not null,
  completed_at timestamp(3) with time zone,
  ended_at timestamp(3) with time zone,
  version integer default 0 not null,
  unanswered_puts integer default 0 not null,
  first_put_at timestamp(3) with time zone,
  last_put_at timestamp(3) with time zone,
  uncounted_refusal text,
  check_at timestamp(3) with time zone,
  checks integer default 0 not null,
  check_traceparent text,
  lease_token uuid,
  lease_until timestamp(3) with time zone,
  hold_contradiction text,
  constraint refunds_pkey PRIMARY KEY (id),
  constraint refunds_amount CHECK (((amount >= 1) AND (amount <= '999999999999'::bigint))),
  constraint refunds_completed CHECK (((status = 'completed'::text) = (completed_at IS NOT NULL))),
  constraint refunds_ended CHECK (((status = ANY (ARRAY['completed'::text, 'failed'::text])) = (ended_at IS NOT NULL))),
  constraint refunds_failed CHECK (((status = 'failed'::text) = (failure_reason IS NOT NULL))),
  constraint refunds_hold_contradiction CHECK (((hold_contradiction IS NULL) OR ((status = 'completed'::text) AND (hold_contradiction = ANY (ARRAY['released'::text, 'voided'::text]))) OR ((status = 'failed'::text) AND (hold_contradiction = 'settled'::text)))),
  constraint refunds_status CHECK ((status = ANY (ARRAY['intent'::text, 'processing'::text, 'completed'::text, 'failed'::text])))
) with (fillfactor=80);
CREATE INDEX refunds_charge ON refunds USING btree (charge_id, created_at, id);
CREATE INDEX refunds_check_at ON refunds USING btree (check_at) WHERE check_at IS NOT NULL;
CREATE INDEX refunds_contradicted ON refunds USING btree (id) WHERE hold_contradiction IS NOT NULL;
CREATE INDEX refunds_ended_at ON refunds USING btree (ended_at) WHERE ended_at IS NOT NULL;
CREATE UNIQUE INDEX refunds_hold ON refunds USING btree (hold_id);
CREATE INDEX refunds_open ON refunds USING btree (end_to_end_id) WHERE status = ANY (ARRAY['intent'::text, 'processing'::text]);
CREATE INDEX refunds_requested ON refunds USING btree (account_id) WHERE check_at = '-infinity'::timestamp with time zone;

create table suspended_disputes (
  infraction_id text not null,
  end_to_end_id text not null,
  amount bigint not null,
  status text not null,
  opened_at timestamp(3) with time zone not null,
  noted_at timestamp(3) with time zone default now() not null,
  constraint suspended_disputes_pkey PRIMARY KEY (infraction_id)
);
CREATE INDEX suspended_disputes_pix ON suspended_disputes USING btree (end_to_end_id);

create table suspense_resolutions (
  id uuid not null,
  item_id uuid not null,
  end_to_end_id text not null,
  charge_id uuid,
  owner_id uuid,
  account_id uuid,
  amount bigint not null,
  action text not null,
  status text default 'processing'::text not null,
  failure_reason text,
  requested_by uuid,
  ordered_at timestamp(3) with time zone,
  is_resolved boolean default false not null,
  is_credited boolean default false not null,
  created_at timestamp(3) with time zone default now() not null,
  completed_at timestamp(3) with time zone,
  version integer default 0 not null,
  unanswered_puts integer default 0 not null,
  last_put_at timestamp(3) with time zone,
  uncounted_refusal text,
  check_at timestamp(3) with time zone,
  checks integer default 0 not null,
  check_traceparent text,
  lease_token uuid,
  lease_until timestamp(3) with time zone,
  first_put_at timestamp(3) with time zone,
  return_id text,
  command_id uuid,
  constraint suspense_resolutions_pkey PRIMARY KEY (id),
  constraint suspense_resolutions_accept CHECK (((action = 'return'::text) OR (account_id IS NOT NULL))),
  constraint suspense_resolutions_action CHECK ((action = ANY (ARRAY['accept'::text, 'return'::text]))),
  constraint suspense_resolutions_failed CHECK (((status = 'failed'::text) = (failure_reason IS NOT NULL))),
  constraint suspense_resolutions_status CHECK ((status = ANY (ARRAY['processing'::text, 'completed'::text, 'failed'::text])))
) with (fillfactor=80);
CREATE INDEX suspense_resolutions_check_at ON suspense_resolutions USING btree (check_at) WHERE check_at IS NOT NULL;
CREATE UNIQUE INDEX suspense_resolutions_item ON suspense_resolutions USING btree (item_id) WHERE status <> 'failed'::text;
CREATE INDEX suspense_resolutions_requested ON suspense_resolutions USING btree (COALESCE(owner_id, '00000000-0000-0000-0000-000000000000'::uuid)) WHERE check_at = '-infinity'::timestamp with time zone;

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

grant delete, insert, select, update on pix_notices to pixmesh_charges;
grant delete, insert, select, update on refunds to pixmesh_charges;
grant insert, select on charge_history to pixmesh_charges;
grant insert, select on dispute_messages to pixmesh_charges;
grant insert, select on ignored_events to pixmesh_charges;
grant insert, select on med_return_times to pixmesh_charges;
grant insert, select on pix_returns to pixmesh_charges;
grant insert, select on received_pix to pixmesh_charges;
grant insert, select, update on charges to pixmesh_charges;
grant insert, select, update on dispute_list to pixmesh_charges;
grant insert, select, update on disputes to pixmesh_charges;
grant insert, select, update on suspended_disputes to pixmesh_charges;
grant insert, select, update on suspense_resolutions to pixmesh_charges;
