-- One row per payout. It begins as an intent, stored before its hold is taken and shown to nobody; the commit that
-- follows the hold makes it a payout (ADR 0009).
create table payouts (
  id uuid primary key,
  account_id uuid not null,
  application_id uuid,
  source text not null,
  status text not null,
  amount bigint not null,
  -- Copied from the account at creation, for life (decision 112).
  fee bigint not null,
  description text,
  reference text,
  recipient_name text,
  recipient_document text,
  pix_key_type text not null,
  -- As sent, for answers; the canonical form is what the acquirer is told (decision 109).
  pix_key text not null,
  pix_key_canonical text not null,
  webhook_url text,
  webhook_sealed_secret text,
  -- Digest of the normalised body, to notice another body under the same key.
  fingerprint bytea not null,
  -- Whether it goes straight to the acquirer or waits in the queue; decided at creation (decision 125).
  is_automatic boolean not null,
  -- Minted with the intent. Everything that happens to the money happens under this id.
  hold_id uuid not null,
  -- The operators of four eyes; a payout of the API was requested by its application (decision 123).
  requested_by uuid,
  approved_by uuid,
  -- Known from the send on, shown once completed (decision 121).
  end_to_end_id text,
  failure_reason text,
  created_at timestamptz(3) not null,
  -- When the acquirer accepted it.
  processed_at timestamptz(3),
  -- Counts changes of state; every transition is guarded by it.
  version integer not null default 0,
  -- Events of this payout so far; the next one is number event_sequence + 1.
  event_sequence integer not null default 0,
  -- Sending: when to call the acquirer (null: nothing to send), calls without a definite answer, and what a refusal
  -- said while it does not count yet (decision 119).
  send_at timestamptz(3),
  unanswered_puts integer not null default 0,
  -- An operator is told by the age of the first call, whatever was repeated since.
  first_put_at timestamptz(3),
  last_put_at timestamptz(3),
  uncounted_refusal text,
  -- The end that was ordered from the ledger and is not confirmed yet.
  ending text,
  ending_reason text,
  -- What the acquirer says against a final state; an operator is told (decision 120).
  contradiction text,
  -- Reading back: when to look next ('-infinity': before all others), and who looks now.
  check_at timestamptz(3),
  checks integer not null default 0,
  check_traceparent text,
  lease_token uuid,
  lease_until timestamptz(3),
  constraint payouts_source check (source in ('api', 'dashboard')),
  constraint payouts_status check (
    status in ('intent', 'pending', 'processing', 'completed', 'failed', 'canceled')
  ),
  constraint payouts_amount check (amount between 1 and 999999999999),
  constraint payouts_fee check (fee between 0 and 999999999999),
  constraint payouts_pix_key_type check (pix_key_type in ('cpf', 'cnpj', 'email', 'phone', 'random')),
  constraint payouts_failure_reason check ((status = 'failed') = (failure_reason is not null)),
  constraint payouts_ending check (
    ending is null or (ending in ('settle', 'release') and status = 'processing')
  ),
  -- What is sent is processing, and nothing is sent once its end has been ordered.
  constraint payouts_send_at check (send_at is null or (status = 'processing' and ending is null)),
  constraint payouts_approver check (approved_by is null or requested_by is distinct from approved_by)
) with (fillfactor = 70);

create unique index payouts_hold on payouts (hold_id);
create index payouts_list on payouts (account_id, created_at, id) where status <> 'intent';
-- What operators look for over all accounts.
create index payouts_by_time on payouts (created_at, id) where status <> 'intent';
create index payouts_reference on payouts (reference) where reference is not null;
create index payouts_send_at on payouts (account_id, send_at) where send_at is not null;
create index payouts_check_at on payouts (check_at) where check_at is not null;
create index payouts_end_to_end_id on payouts (end_to_end_id) where end_to_end_id is not null;

-- Money that came back after a payout had completed: once per return of the acquirer (decision 128).
create table payout_returns (
  end_to_end_id text not null,
  return_id text not null,
  payout_id uuid not null,
  account_id uuid not null,
  amount bigint not null,
  recorded_at timestamptz(3) not null default now(),
  primary key (end_to_end_id, return_id)
);

-- Calls to the acquirer that may be without an answer, over all replicas (decision 132). A slot is leased, so that
-- a crash frees it; the token tells the holder from a former one.
create table send_slots (
  slot integer primary key,
  lease_token uuid,
  lease_until timestamptz(3)
);

-- A payout is never deleted, an intent may be; what was returned does not change.
do $$
begin
  execute format('revoke truncate on payouts from %I', 'pixmesh_' || current_schema);
  execute format('revoke update, delete, truncate on payout_returns from %I', 'pixmesh_' || current_schema);
end
$$;

create function keep_payouts() returns trigger
  language plpgsql
as $$
begin
  raise exception 'payout % is not an intent any more', old.id using errcode = 'check_violation';
end
$$;

create trigger payouts_kept before delete on payouts
  for each row when (old.status <> 'intent') execute function keep_payouts();
