-- Schema payouts: the sum of its migrations. Written by a test; UPDATE_GOLDEN=1 refreshes it.
-- As in packages/postgres/mechanisms.sql: table acquirer_lists, table dead_letters, table events, table leases, table message_schemas, table outbox, table reconciliation_breaks, table reconciliation_full_lease, table reconciliation_lease, table reconciliation_runs, table return_contradictions, table unanswered_commands, function ensure_event_partitions, function uuid_v7_floor, grant on outbox, grant on dead_letters, grant on reconciliation_breaks, grant on reconciliation_runs, grant on return_contradictions, grant on unanswered_commands, grant on events, grant on acquirer_lists, grant on message_schemas, grant on leases, grant on reconciliation_full_lease, grant on reconciliation_lease.

create table payout_returns (
  end_to_end_id text not null,
  return_id text not null,
  payout_id uuid not null,
  account_id uuid not null,
  amount bigint not null,
  recorded_at timestamp(3) with time zone default now() not null,
  constraint payout_returns_pkey PRIMARY KEY (end_to_end_id, return_id)
);
CREATE INDEX payout_returns_payout ON payout_returns USING btree (payout_id);

create table payout_stop_breaks (
  service text not null,
  check_name text not null,
  kind text not null,
  break_id text not null,
  since timestamp(3) with time zone not null,
  stop_id uuid not null,
  constraint payout_stop_breaks_pkey PRIMARY KEY (service, check_name, kind, break_id, since),
  constraint payout_stop_breaks_stop_id_fkey FOREIGN KEY (stop_id) REFERENCES payout_stops(id)
);
CREATE INDEX payout_stop_breaks_stop ON payout_stop_breaks USING btree (stop_id);

create table payout_stops (
  id uuid not null,
  account_id uuid,
  reason text not null,
  set_by text not null,
  created_at timestamp(3) with time zone default now() not null,
  ended_at timestamp(3) with time zone,
  ended_by uuid,
  constraint payout_stops_pkey PRIMARY KEY (id),
  constraint payout_stops_end CHECK (((ended_at IS NULL) = (ended_by IS NULL)))
);
CREATE UNIQUE INDEX payout_stops_in_force ON payout_stops USING btree (account_id) NULLS NOT DISTINCT WHERE ended_at IS NULL;

create table payouts (
  id uuid not null,
  account_id uuid not null,
  application_id uuid,
  source text not null,
  status text not null,
  amount bigint not null,
  fee bigint not null,
  description text,
  reference text,
  recipient_name text,
  recipient_document text,
  pix_key_type text not null,
  pix_key text not null,
  pix_key_canonical text not null,
  webhook_url text,
  webhook_sealed_secret text,
  fingerprint bytea not null,
  is_automatic boolean not null,
  hold_id uuid not null,
  requested_by uuid,
  approved_by uuid,
  end_to_end_id text,
  failure_reason text,
  created_at timestamp(3) with time zone not null,
  processed_at timestamp(3) with time zone,
  version integer default 0 not null,
  event_sequence integer default 0 not null,
  send_at timestamp(3) with time zone,
  unanswered_puts integer default 0 not null,
  first_put_at timestamp(3) with time zone,
  last_put_at timestamp(3) with time zone,
  uncounted_refusal text,
  ending text,
  ending_reason text,
  contradiction text,
  check_at timestamp(3) with time zone,
  checks integer default 0 not null,
  check_traceparent text,
  lease_token uuid,
  lease_until timestamp(3) with time zone,
  last_check_at timestamp(3) with time zone,
  last_check_answer text,
  last_put_error text,
  pending_reason text,
  due_at timestamp(3) with time zone,
  constraint payouts_pkey PRIMARY KEY (id),
  constraint payouts_amount CHECK (((amount >= 1) AND (amount <= '999999999999'::bigint))),
  constraint payouts_approver CHECK (((approved_by IS NULL) OR (requested_by IS DISTINCT FROM approved_by))),
  constraint payouts_ending CHECK (((ending IS NULL) OR ((ending = ANY (ARRAY['settle'::text, 'release'::text])) AND (status = 'processing'::text)))),
  constraint payouts_failure_reason CHECK (((status = 'failed'::text) = (failure_reason IS NOT NULL))),
  constraint payouts_fee CHECK (((fee >= 0) AND (fee <= '999999999999'::bigint))),
  constraint payouts_pix_key_type CHECK ((pix_key_type = ANY (ARRAY['cpf'::text, 'cnpj'::text, 'email'::text, 'phone'::text, 'random'::text]))),
  constraint payouts_send_at CHECK (((send_at IS NULL) OR ((status = 'processing'::text) AND (ending IS NULL)))),
  constraint payouts_source CHECK ((source = ANY (ARRAY['api'::text, 'dashboard'::text]))),
  constraint payouts_status CHECK ((status = ANY (ARRAY['intent'::text, 'pending'::text, 'processing'::text, 'completed'::text, 'failed'::text, 'canceled'::text])))
) with (fillfactor=70);
CREATE INDEX payouts_by_time ON payouts USING btree (created_at, id) WHERE status <> 'intent'::text;
CREATE INDEX payouts_check_at ON payouts USING btree (check_at) WHERE check_at IS NOT NULL;
CREATE INDEX payouts_contradiction ON payouts USING btree (id) WHERE contradiction IS NOT NULL;
CREATE INDEX payouts_end_to_end_id ON payouts USING btree (end_to_end_id) WHERE end_to_end_id IS NOT NULL;
CREATE INDEX payouts_failed ON payouts USING btree (status, created_at, id) WHERE status = ANY (ARRAY['failed'::text, 'canceled'::text]);
CREATE INDEX payouts_first_put_at ON payouts USING brin (first_put_at) WITH (pages_per_range='16', autosummarize='on');
CREATE UNIQUE INDEX payouts_hold ON payouts USING btree (hold_id);
CREATE INDEX payouts_list_by_status ON payouts USING btree (account_id, status, created_at, id) WHERE status IS NOT NULL;
CREATE INDEX payouts_of_operators ON payouts USING btree (created_at, id) WHERE source = 'dashboard'::text;
CREATE INDEX payouts_open ON payouts USING btree (status, created_at, id) WHERE status = ANY (ARRAY['pending'::text, 'processing'::text]);
CREATE INDEX payouts_reference ON payouts USING btree (reference) WHERE reference IS NOT NULL;
CREATE INDEX payouts_requested ON payouts USING btree (account_id) WHERE check_at = '-infinity'::timestamp with time zone;
CREATE INDEX payouts_send_at ON payouts USING btree (account_id, send_at) WHERE send_at IS NOT NULL;

create table send_slots (
  slot integer not null,
  lease_token uuid,
  lease_until timestamp(3) with time zone,
  waits_for uuid,
  constraint send_slots_pkey PRIMARY KEY (slot)
);

create table suspense_resolutions (
  id uuid not null,
  item_id uuid not null,
  payout_id uuid not null,
  account_id uuid not null,
  amount bigint not null,
  requested_by uuid not null,
  created_at timestamp(3) with time zone default now() not null,
  completed_at timestamp(3) with time zone,
  constraint suspense_resolutions_pkey PRIMARY KEY (id),
  constraint suspense_resolutions_amount CHECK (((amount >= 1) AND (amount <= '999999999999'::bigint)))
);
CREATE UNIQUE INDEX suspense_resolutions_item ON suspense_resolutions USING btree (item_id);

CREATE OR REPLACE FUNCTION payouts.keep_payouts()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception 'payout % is not an intent any more', old.id using errcode = 'check_violation';
end
$function$;

CREATE TRIGGER payouts_kept BEFORE DELETE ON payouts FOR EACH ROW WHEN (old.status <> 'intent'::text) EXECUTE FUNCTION keep_payouts();

grant delete, insert, select, update on payouts to pixmesh_payouts;
grant delete, insert, select, update on send_slots to pixmesh_payouts;
grant insert, select on payout_returns to pixmesh_payouts;
grant insert, select on payout_stop_breaks to pixmesh_payouts;
grant insert, select, update on payout_stops to pixmesh_payouts;
grant insert, select, update on suspense_resolutions to pixmesh_payouts;
