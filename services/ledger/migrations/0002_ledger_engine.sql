-- BREAKING: the ledger of the version before cannot write beside this one. Stop it before this runs, with 0003 and 0004.

-- What was there steps aside; 0003 carries it over, 0004 drops it.
drop trigger entries_balanced on entries;
drop function refuse_unbalanced_journals();
alter table accounts rename to accounts_0001;
alter table accounts_0001 rename constraint accounts_pkey to accounts_0001_pkey;
alter table journals rename to journals_0001;
alter table journals_0001 rename constraint journals_pkey to journals_0001_pkey;
alter index journals_account rename to journals_0001_account;
alter table entries rename to entries_0001;
alter table entries_0001 rename constraint entries_pkey to entries_0001_pkey;
alter table suspense_items rename to suspense_items_0001;
alter table suspense_items_0001 rename constraint suspense_items_pkey to suspense_items_0001_pkey;
alter index suspense_items_open rename to suspense_items_0001_open;
alter table releases rename to releases_0001;
alter table releases_0001 rename constraint releases_pkey to releases_0001_pkey;
alter index releases_due rename to releases_0001_due;
alter type account_kind rename to account_kind_0001;

-- What one owner's money can be.
create type account_kind as enum (
  'available', 'pending', 'held', 'blocked', 'suspense', 'acquirer_clearing', 'fees', 'acquirer_tariffs'
);

create type journal_kind as enum (
  'take_hold', 'void_hold', 'settle_hold', 'release_hold',
  'credit_received_pix', 'suspend_received_pix', 'release_pending',
  'credit_payout_return', 'suspend_payout', 'book_acquirer_tariff',
  'block_disputed', 'unblock_disputed', 'return_disputed'
);

-- What became of a command. `booked` moved money, `noted` had none to move, every other word says why nothing moved.
create type command_outcome as enum (
  'booked', 'noted',
  'insufficient_balance', 'voided', 'resource_held',
  'already_held', 'already_settled', 'already_released', 'already_voided'
);

create type hold_kind as enum ('payout', 'refund');
create type hold_state as enum ('refused', 'open', 'settled', 'released', 'voided');

-- One row per owner: a command locks its owner's row and no other. The accounts of the platform (clearing, fees,
-- tariffs) have a part in each owner's row and are summed where the whole is asked for; a row of their own would be
-- the one that all commands wait for. Balances are cents, credits positive. Only these rows are updated on the road
-- of a command, hence no index beside the key and half of each page free for new versions (heap-only tuples).
create table accounts (
  account_id uuid primary key,
  available bigint not null default 0,
  pending bigint not null default 0,
  held bigint not null default 0,
  blocked bigint not null default 0,
  -- Below zero where money left against what we had said.
  suspense bigint not null default 0,
  acquirer_clearing bigint not null default 0,
  fees bigint not null default 0,
  acquirer_tariffs bigint not null default 0,
  -- How far below zero templates of the MED have taken `available` (decision 137).
  forced_debit bigint not null default 0,
  -- Number of the owner's journals; the newest has this number.
  version bigint not null default 0,
  -- Time of the newest journal: the next one is never older, even when the clock steps back.
  moved_at timestamptz(3) not null default '-infinity',
  constraint accounts_forced_debit check (forced_debit >= 0),
  constraint accounts_available_floor check (available + forced_debit >= 0),
  constraint accounts_parts_floor check (pending >= 0 and held >= 0 and blocked >= 0)
) with (fillfactor = 50);

-- One row per command that was decided: its outcome and its journal are the same row. The command's id is unique for
-- ever, which is what makes every command have one effect. No foreign keys: each would cost a lookup and a row lock,
-- and nothing here is ever deleted. The order of the columns avoids padding.
create table journals (
  command_id uuid primary key,
  account_id uuid not null,
  -- The journal's number within its owner, from 1 without gaps; null where nothing moved.
  version bigint,
  -- By the database's clock, under the owner's lock: it never falls as the version grows.
  created_at timestamptz(3) not null,
  kind journal_kind not null,
  outcome command_outcome not null,
  -- The first 16 bytes of a SHA-256 of what the command said, to notice another command under the same id.
  fingerprint uuid not null,
  -- The charge, payout or refund the money is about. A hold that is taken says so in its own row, which has this
  -- command's id: most journals are such, and need not say it twice.
  resource_id uuid,
  constraint journals_version unique (account_id, version),
  constraint journals_numbered check ((outcome = 'booked') = (version is not null))
);

-- For those who compare by time. Holds have a list of their own, and so do not pay for this one.
create index journals_by_time on journals (created_at, command_id) where kind not in ('take_hold', 'void_hold');

-- What each journal moved. A writer that has not seen the newest journal of its owner cannot write at all. The kind
-- stands before the version, so that the newest entry of each kind before any version is one step down the index.
create table entries (
  account_id uuid not null,
  version bigint not null,
  -- Above zero a credit, below zero a debit.
  amount bigint not null,
  balance_after bigint not null,
  kind account_kind not null,
  primary key (account_id, kind, version),
  constraint entries_amount check (amount <> 0)
);

-- A journal's entries are written by one statement, and that statement must net to zero per journal.
create function refuse_unbalanced_journals() returns trigger
  language plpgsql
as $$
declare
  owner uuid;
begin
  select account_id into owner from inserted group by account_id, version having sum(amount) <> 0 limit 1;
  if found then
    raise exception 'a journal of % does not net to zero', owner
      using errcode = 'check_violation', constraint = 'entries_balanced';
  end if;
  return null;
end
$$;

create trigger entries_balanced after insert on entries
  referencing new table as inserted
  for each statement execute function refuse_unbalanced_journals();

-- Money reserved for a payout or refund. A hold that was voided or released before it came is a row without money,
-- which refuses it when it comes. Why a hold was refused and when it ended stand with the commands that did so.
create table holds (
  hold_id uuid primary key,
  account_id uuid not null,
  resource_id uuid not null,
  amount bigint not null,
  fee bigint not null,
  created_at timestamptz(3) not null,
  state hold_state not null,
  -- Null where the hold never came.
  kind hold_kind,
  constraint holds_money check (amount >= 0 and fee >= 0)
);

-- At most one hold of a payout or refund is ever open or settled.
create unique index holds_resource on holds (resource_id) where state in ('open', 'settled');

-- Money that no charge and no payout accounts for, until an operator decides. An item has the id of the command that
-- booked it, and stands on the platform's own account where nobody owns it (decision 141).
create table suspense_items (
  id uuid primary key,
  account_id uuid not null,
  end_to_end_id text,
  charge_id uuid,
  payout_id uuid,
  -- As it stands in `suspense`: below zero for money that left.
  amount bigint not null,
  reason text not null,
  created_at timestamptz(3) not null,
  resolved_at timestamptz(3)
);

create index suspense_items_open on suspense_items (created_at) where resolved_at is null;
create index suspense_items_newest on suspense_items (created_at, id);

-- Credits that stand in `pending` until their time has come (decision 133), by the command that booked them. The row
-- goes with the journal that makes the money available.
create table releases (
  command_id uuid primary key,
  account_id uuid not null,
  amount bigint not null,
  release_at timestamptz(3) not null,
  -- Who works on it now is not asked by others until then.
  leased_until timestamptz(3) not null default '-infinity'
);

create index releases_due on releases (release_at);

-- One row of what a batch of commands has to know; which columns are filled depends on `source`.
create type batch_state as (
  source text,
  id uuid,
  account_id uuid,
  available bigint,
  pending bigint,
  held bigint,
  blocked bigint,
  suspense bigint,
  acquirer_clearing bigint,
  fees bigint,
  acquirer_tariffs bigint,
  forced_debit bigint,
  version bigint,
  at timestamptz(3),
  kind text,
  state text,
  fingerprint uuid,
  resource_id uuid,
  amount bigint,
  fee bigint
);

-- Locks the rows of the owners of a batch in the order of their ids, and then reads what is known of its commands.
-- Each statement of a volatile function sees what was committed before that statement began, so the reads see
-- whatever those had written who held the locks before.
--
-- Missing rows are opened before the first lock is taken, in the same order. Whoever opens waits only for others who
-- open, and whoever locks only for rows that are open: no circle can form, hence no deadlock.
--
-- The settings last as long as the transaction. A session that makes its plans while the tables are still empty would
-- otherwise read them from end to end for every batch, until they are analysed.
create function lock_batch(owners uuid[], commands uuid[], hold_ids uuid[], resources uuid[])
  returns setof batch_state
  language plpgsql
  volatile
as $$
begin
  perform
    set_config('enable_seqscan', 'off', true),
    set_config('plan_cache_mode', 'force_generic_plan', true);

  if (select count(*) from accounts where account_id = any (owners)) < cardinality(owners) then
    insert into accounts (account_id)
    select owner from unnest(owners) as owner order by owner
    on conflict do nothing;
  end if;

  return query
    select
      'account', account_id, account_id,
      available, pending, held, blocked, suspense, acquirer_clearing, fees, acquirer_tariffs,
      forced_debit, version, moved_at,
      null::text, null::text, null::uuid, null::uuid, null::bigint, null::bigint
    from accounts
    where account_id = any (owners)
    order by account_id
    for update;

  return query
    select
      'command', command_id, account_id,
      null::bigint, null::bigint, null::bigint, null::bigint, null::bigint, null::bigint, null::bigint, null::bigint,
      null::bigint, version, created_at,
      kind::text, outcome::text, fingerprint, resource_id, null::bigint, null::bigint
    from journals
    where command_id = any (commands);

  if cardinality(hold_ids) > 0 then
    return query
      select
        'hold', hold_id, account_id,
        null::bigint, null::bigint, null::bigint, null::bigint, null::bigint, null::bigint, null::bigint, null::bigint,
        null::bigint, null::bigint, created_at,
        kind::text, state::text, null::uuid, resource_id, amount, fee
      from holds
      where hold_id = any (hold_ids);
    return query
      select
        'hold', hold_id, account_id,
        null::bigint, null::bigint, null::bigint, null::bigint, null::bigint, null::bigint, null::bigint, null::bigint,
        null::bigint, null::bigint, created_at,
        kind::text, state::text, null::uuid, resource_id, amount, fee
      from holds
      where resource_id = any (resources) and state in ('open', 'settled');
  end if;

  return next row(
    'clock', null, null, null, null, null, null, null, null, null, null, null, null, clock_timestamp(),
    null, null, null, null, null, null
  )::batch_state;
end
$$;

-- The newest journal of an owner that is not younger than an instant, by halving: times do not fall as versions grow.
-- About 25 steps down `journals_version` for ten million journals.
create function version_at(owner uuid, instant timestamptz) returns bigint
  language plpgsql
  stable
as $$
declare
  low bigint := 0;
  high bigint;
  middle bigint;
begin
  select version into high from accounts where account_id = owner;
  if not found then
    return 0;
  end if;
  while low < high loop
    middle := (low + high + 1) / 2;
    if (select created_at <= instant from journals where account_id = owner and version = middle) then
      low := middle;
    else
      high := middle - 1;
    end if;
  end loop;
  return low;
end
$$;

-- Entries and journals are append-only for the service itself; accounts, holds and suspense items are never dropped.
do $$
begin
  execute format('revoke update, delete, truncate on entries, journals from %I', 'pixmesh_' || current_schema);
  execute format('revoke delete, truncate on accounts, holds, suspense_items from %I', 'pixmesh_' || current_schema);
end
$$;
