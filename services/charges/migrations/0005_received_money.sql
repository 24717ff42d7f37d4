-- A Pix that names no charge of ours belongs to nobody: it has neither charge nor account, and stands in suspense on
-- the platform's own account (decision 217).
alter table received_pix alter column charge_id drop not null;
alter table received_pix alter column account_id drop not null;
alter table received_pix add constraint received_pix_owner check (
  (charge_id is null) = (account_id is null) and (charge_id is null) = (coalesce(reason, '') = 'unowned')
);

-- What nobody owns is rare, and compared with the ledger as a whole.
create index received_pix_unowned on received_pix (recorded_at) where charge_id is null;

-- Every return of a received Pix that the acquirer has carried out, once, with what was made of it: a refund of ours,
-- booked as a return that nobody here ordered or as one under the MED, the end of an item in suspense, or kept
-- unbooked because it cannot be right.
create table pix_returns (
  end_to_end_id text not null,
  -- The acquirer's own id of the return; ours where we ordered it.
  return_id text not null,
  charge_id uuid,
  amount bigint not null,
  nature text,
  refund_id uuid,
  disposition text not null,
  seen_at timestamptz(3) not null default now(),
  primary key (end_to_end_id, return_id),
  constraint pix_returns_amount check (amount between 1 and 999999999999),
  constraint pix_returns_disposition check (
    disposition in ('refund', 'returned', 'med', 'suspense', 'unbooked')
    and (disposition = 'refund') = (refund_id is not null)
  )
);

create index pix_returns_charge on pix_returns (charge_id) where charge_id is not null;

-- Pix that a callback or a list names and no charge of ours explains: a reason to read each at the acquirer.
create table pix_notices (
  end_to_end_id text primary key,
  noticed_at timestamptz(3) not null default now(),
  -- What the look found; null while it is to come.
  outcome text,
  done_at timestamptz(3),
  check_at timestamptz(3),
  checks integer not null default 0,
  check_traceparent text,
  lease_token uuid,
  lease_until timestamptz(3),
  constraint pix_notices_id check (length(end_to_end_id) between 1 and 64),
  constraint pix_notices_outcome check (
    outcome in ('suspended', 'of_charge', 'not_found', 'foreign_key')
    and (outcome is null) = (done_at is null)
  )
) with (fillfactor = 80);

create index pix_notices_check_at on pix_notices (check_at) where check_at is not null;
create index pix_notices_done_at on pix_notices (done_at) where done_at is not null;

-- How far the acquirer's list of received Pix has been read, for all replicas.
create table received_list (
  singleton boolean primary key default true check (singleton),
  -- Everything paid before this instant has been compared.
  listed_until timestamptz(3) not null default now(),
  -- The slow walk over older days, for returns that nobody announced: the window in work and its next page.
  sweep_from timestamptz(3),
  sweep_page integer not null default 0,
  check_at timestamptz(3) default now(),
  checks integer not null default 0,
  check_traceparent text,
  lease_token uuid,
  lease_until timestamptz(3)
);

insert into received_list default values;

-- What operators decided of items in suspense (decision 141). One per item that is at work or done; a failed return
-- leaves the item open.
create table suspense_resolutions (
  -- Its form without hyphens is the id of the return at the acquirer.
  id uuid primary key,
  item_id uuid not null,
  end_to_end_id text not null,
  charge_id uuid,
  -- Owner of the item; null: the platform.
  owner_id uuid,
  -- Who gets the money, of an `accept`.
  account_id uuid,
  amount bigint not null,
  action text not null,
  status text not null default 'processing',
  failure_reason text,
  -- Null for a return that the acquirer made by itself.
  requested_by uuid,
  -- Commands were written to the ledger; what it has confirmed of them.
  ordered_at timestamptz(3),
  is_resolved boolean not null default false,
  is_credited boolean not null default false,
  created_at timestamptz(3) not null default now(),
  completed_at timestamptz(3),
  version integer not null default 0,
  -- The return at the acquirer: calls without a definite answer so far, and a refusal that does not count yet.
  unanswered_puts integer not null default 0,
  last_put_at timestamptz(3),
  uncounted_refusal text,
  check_at timestamptz(3),
  checks integer not null default 0,
  check_traceparent text,
  lease_token uuid,
  lease_until timestamptz(3),
  constraint suspense_resolutions_action check (action in ('accept', 'return')),
  constraint suspense_resolutions_status check (status in ('processing', 'completed', 'failed')),
  constraint suspense_resolutions_failed check ((status = 'failed') = (failure_reason is not null)),
  constraint suspense_resolutions_accept check (action = 'return' or account_id is not null)
) with (fillfactor = 80);

create unique index suspense_resolutions_item on suspense_resolutions (item_id) where status <> 'failed';
create index suspense_resolutions_check_at on suspense_resolutions (check_at) where check_at is not null;

revoke update, delete, truncate on pix_returns from pixmesh_charges;
revoke delete, truncate on suspense_resolutions, received_list from pixmesh_charges;
