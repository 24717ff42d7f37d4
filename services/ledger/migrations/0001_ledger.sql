-- Where money can stand. The order of the kinds is the order in which rows of one owner are locked.
create type account_kind as enum (
  'available', 'pending', 'held', 'blocked', 'suspense', 'acquirer_clearing'
);

-- One row per ledger account: an owner and a kind. Opened by the first journal that needs it, never closed.
-- Only this row of an account is ever updated, so it is narrow, has no index beside its key, and leaves half of
-- each page free for new versions of its rows (heap-only tuples).
create table accounts (
  account_id uuid not null,
  kind account_kind not null,
  -- Sum of the account's entries. Credits add, debits subtract.
  balance bigint not null default 0,
  -- How far below zero templates of the MED may have taken it (decision 137).
  forced_debit bigint not null default 0,
  -- Number of the account's entries; the newest has this number.
  version bigint not null default 0,
  primary key (account_id, kind),
  constraint accounts_forced_debit check (forced_debit >= 0),
  constraint accounts_available_floor check (kind <> 'available' or balance + forced_debit >= 0),
  -- Clearing mirrors money that lies at the acquirer, hence below zero; no other part can owe anything.
  constraint accounts_parts_floor check (kind in ('available', 'acquirer_clearing') or balance >= 0)
) with (fillfactor = 50);

-- One row per accepted command: its journal and its outcome are the same row. The command's id is unique for
-- ever, which is what makes every command have one effect. No foreign keys: each would cost a lookup and a row
-- lock per entry, and nothing here is ever deleted.
create table journals (
  -- UUIDv7, minted under the lock of the accounts.
  id uuid primary key,
  command_id uuid not null,
  -- Digest of what the command said, to notice another command under the same id.
  fingerprint bytea not null,
  kind text not null,
  account_id uuid not null,
  resource_id uuid,
  -- What a repeat of the command is answered: the outcome's event and the balances after it.
  outcome json not null,
  created_at timestamptz(3) not null default now(),
  constraint journals_command unique (command_id)
);

create index journals_account on journals (account_id, id);

-- What each journal moved. The key numbers an account's entries without repetition: a writer that has not seen
-- the newest balance cannot write at all.
create table entries (
  journal_id uuid not null,
  account_id uuid not null,
  kind account_kind not null,
  -- Cents; above zero a credit, below zero a debit.
  amount bigint not null,
  balance_after bigint not null,
  version bigint not null,
  primary key (account_id, kind, version),
  constraint entries_amount check (amount <> 0)
);

create index entries_journal on entries (journal_id);

-- A journal's entries are written by one statement, and that statement must net to zero per journal.
create function refuse_unbalanced_journals() returns trigger
  language plpgsql
as $$
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
$$;

create trigger entries_balanced after insert on entries
  referencing new table as inserted
  for each statement execute function refuse_unbalanced_journals();

-- Money that no charge accepts, until an operator accepts or returns it. An item has the id of the journal that
-- booked it, and stands on the platform's own account where nobody owns it (decision 141).
create table suspense_items (
  id uuid primary key,
  account_id uuid not null,
  end_to_end_id text not null,
  charge_id uuid,
  amount bigint not null,
  reason text not null,
  created_at timestamptz(3) not null default now(),
  resolved_at timestamptz(3)
);

create index suspense_items_open on suspense_items (id) where resolved_at is null;

-- Credits that stand in `pending` until their time has come (decision 133), by the journal that booked them.
create table releases (
  journal_id uuid primary key,
  account_id uuid not null,
  amount bigint not null,
  release_at timestamptz(3) not null
);

create index releases_due on releases (release_at);

-- Entries and journals are append-only for the service itself; accounts and suspense items are never dropped.
do $$
begin
  execute format('revoke update, delete, truncate on entries, journals from %I', 'pixmesh_' || current_schema);
  execute format('revoke delete, truncate on accounts, suspense_items from %I', 'pixmesh_' || current_schema);
end
$$;
