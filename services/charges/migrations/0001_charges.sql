-- One row per charge, from the moment it is stored as `processing` (specification, States).
create table charges (
  id uuid primary key,
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
  -- Settings of the account copied at creation: they apply to this charge for life.
  expires_in integer not null,
  late_payment_policy text not null,
  release_delay_seconds integer not null,
  -- Digest of the normalised body, to notice another body under the same key.
  fingerprint bytea not null,
  br_code text,
  location text,
  -- The Pix that pays this charge, from its recording on; at most one (decision 69).
  accepted_e2e text,
  end_to_end_id text,
  failure_reason text,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  paid_at timestamptz(3),
  -- Counts changes of state; every transition is guarded by it.
  version integer not null default 0,
  -- Events of this charge so far; the next one is number event_sequence + 1.
  event_sequence integer not null default 0,
  -- Issuing: calls without a definite answer so far, and what a refusal said while it does not count yet.
  unanswered_puts integer not null default 0,
  last_put_at timestamptz(3),
  first_not_found_at timestamptz(3),
  uncounted_refusal text,
  -- Reading back: when to look next ('-infinity': before all others), and who looks now.
  check_at timestamptz(3),
  checks integer not null default 0,
  check_traceparent text,
  lease_token uuid,
  lease_until timestamptz(3),
  constraint charges_source check (source in ('api', 'dashboard', 'checkout')),
  constraint charges_status check (
    status in ('processing', 'pending', 'paid', 'canceled', 'failed', 'refunded', 'charged_back', 'infraction')
  ),
  constraint charges_amount check (amount between 1 and 999999999999),
  constraint charges_failure_reason check ((status = 'failed') = (failure_reason is not null))
) with (fillfactor = 80);

create unique index charges_accepted_e2e on charges (accepted_e2e) where accepted_e2e is not null;
create index charges_check_at on charges (check_at) where check_at is not null;

-- One row per Pix that the acquirer received for us, recorded together with its ledger command.
create table received_pix (
  end_to_end_id text primary key,
  charge_id uuid not null,
  account_id uuid not null,
  amount bigint not null,
  paid_at timestamptz(3) not null,
  -- What became of the money: credited for the charge, or in suspense for a reason.
  disposition text not null,
  reason text,
  recorded_at timestamptz(3) not null default now(),
  constraint received_pix_disposition check (
    disposition = 'credit' and reason is null or disposition = 'suspense' and reason is not null
  )
);

create index received_pix_charge on received_pix (charge_id);

-- Neither a charge nor a received Pix is ever deleted, and what was received does not change.
revoke delete, truncate on charges from pixmesh_charges;
revoke update, delete, truncate on received_pix from pixmesh_charges;
