-- One row per refund that an operator asked for (decision 76), from its intent on: stored before its hold is taken at
-- the ledger, and dropped where that is refused or voided.
create table refunds (
  -- Derived from the `Idempotency-Key` and the account; without hyphens the id of the return at the acquirer.
  id uuid primary key,
  charge_id uuid not null,
  account_id uuid not null,
  -- The Pix that it gives back, wholly or in part.
  end_to_end_id text not null,
  amount bigint not null,
  status text not null default 'intent',
  failure_reason text,
  -- The settlement system's id of the return, once it is known.
  return_id text,
  -- The money that is reserved for it, under a fresh id for each intent (decision 115).
  hold_id uuid not null,
  requested_by uuid not null,
  -- Digest of what was asked for, to notice another body under the same key.
  fingerprint bytea not null,
  created_at timestamptz(3) not null default now(),
  -- When the payer had the money back, by the acquirer's clock.
  completed_at timestamptz(3),
  -- When it completed or failed here.
  ended_at timestamptz(3),
  version integer not null default 0,
  -- The return at the acquirer: calls without a definite answer so far, and a refusal that does not count yet.
  unanswered_puts integer not null default 0,
  first_put_at timestamptz(3),
  last_put_at timestamptz(3),
  uncounted_refusal text,
  check_at timestamptz(3),
  checks integer not null default 0,
  check_traceparent text,
  lease_token uuid,
  lease_until timestamptz(3),
  constraint refunds_amount check (amount between 1 and 999999999999),
  constraint refunds_status check (status in ('intent', 'processing', 'completed', 'failed')),
  constraint refunds_failed check ((status = 'failed') = (failure_reason is not null)),
  constraint refunds_completed check ((status = 'completed') = (completed_at is not null)),
  constraint refunds_ended check ((status in ('completed', 'failed')) = (ended_at is not null))
) with (fillfactor = 80);

-- One hold is for one refund, for ever.
create unique index refunds_hold on refunds (hold_id);
create index refunds_charge on refunds (charge_id, created_at, id);
-- What is under way: bounds what may still be refunded, and is compared with the ledger's open holds.
create index refunds_open on refunds (end_to_end_id) where status in ('intent', 'processing');
create index refunds_check_at on refunds (check_at) where check_at is not null;
create index refunds_ended_at on refunds (ended_at) where ended_at is not null;

-- What went back lately, for reconciliation.
create index pix_returns_seen_at on pix_returns (seen_at);
-- A return at the acquirer ends one refund, and a refund is one return.
create unique index pix_returns_refund on pix_returns (refund_id) where refund_id is not null;

revoke truncate on refunds from pixmesh_charges;
