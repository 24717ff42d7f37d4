/**
 * The ledger that a careful team writes first, and that peers ship: a transfer function of general use, called once
 * per command, with row locks and a commit each. A transfer locks both accounts in the order of their ids, checks what
 * they allow, and writes two entries with the balance before and after. A reserve makes two of them, amount and fee,
 * because they end in different places; its key makes it idempotent, and a row says what is held for what.
 */
export const BASELINE_SCHEMA = `
  drop schema if exists baseline_ledger cascade;
  create schema baseline_ledger;
  set search_path = baseline_ledger;

  create table accounts (
    id uuid primary key,
    owner_id uuid not null,
    kind text not null,
    currency text not null default 'BRL',
    balance bigint not null default 0,
    version bigint not null default 0,
    may_be_negative boolean not null default false,
    constraint accounts_floor check (may_be_negative or balance >= 0),
    unique (owner_id, kind)
  ) with (fillfactor = 50);

  create table transfers (
    id uuid primary key,
    from_account_id uuid not null references accounts,
    to_account_id uuid not null references accounts,
    amount bigint not null check (amount > 0),
    created_at timestamptz not null default now()
  );
  create index transfers_from on transfers (from_account_id);
  create index transfers_to on transfers (to_account_id);

  create table entries (
    id uuid primary key,
    transfer_id uuid not null references transfers,
    account_id uuid not null references accounts,
    amount bigint not null,
    balance_before bigint not null,
    balance_after bigint not null,
    account_version bigint not null,
    created_at timestamptz not null default now(),
    unique (account_id, account_version)
  );
  create index entries_transfer on entries (transfer_id);

  create table holds (
    idempotency_key uuid primary key,
    resource_id uuid not null,
    amount_transfer_id uuid not null references transfers,
    fee_transfer_id uuid not null references transfers,
    state text not null default 'open',
    created_at timestamptz not null default now()
  );
  create index holds_resource on holds (resource_id);

  create function transfer(source uuid, target uuid, moved bigint) returns uuid language plpgsql as $$
  declare
    transfer_id constant uuid := uuidv7();
    source_account accounts;
    target_account accounts;
  begin
    -- In the order of the ids: two callers never wait for each other crosswise.
    perform from accounts where id = least(source, target) for update;
    perform from accounts where id = greatest(source, target) for update;
    update accounts set balance = balance - moved, version = version + 1
      where id = source returning * into source_account;
    update accounts set balance = balance + moved, version = version + 1
      where id = target returning * into target_account;
    if source_account.currency <> target_account.currency then
      raise exception 'accounts differ in currency';
    end if;
    insert into transfers (id, from_account_id, to_account_id, amount)
      values (transfer_id, source, target, moved);
    insert into entries (id, transfer_id, account_id, amount, balance_before, balance_after, account_version)
      values
        (uuidv7(), transfer_id, source, -moved, source_account.balance + moved,
          source_account.balance, source_account.version),
        (uuidv7(), transfer_id, target, moved, target_account.balance - moved,
          target_account.balance, target_account.version);
    return transfer_id;
  end
  $$;

  create function take_hold(key uuid, resource uuid, source uuid, target uuid, hold_amount bigint, hold_fee bigint)
  returns text language plpgsql as $$
  begin
    perform from holds where idempotency_key = key;
    if found then
      return 'repeated';
    end if;
    insert into holds (idempotency_key, resource_id, amount_transfer_id, fee_transfer_id)
      values (key, resource, transfer(source, target, hold_amount), transfer(source, target, hold_fee));
    return 'held';
  exception
    when check_violation then return 'insufficient_balance';
    when unique_violation then return 'repeated';
  end
  $$;
`;

/** Two accounts for each of `$1` owners, the first of them funded with `$2` cents by a transfer from outside. */
export const BASELINE_ACCOUNTS = `
  with owner as (
    select gen_random_uuid() as id, gen_random_uuid() as source, gen_random_uuid() as target,
      gen_random_uuid() as transfer, number
    from generate_series(1, $1::int) as number
  ),
  outside as (
    insert into baseline_ledger.accounts (id, owner_id, kind, balance, version, may_be_negative)
    values (gen_random_uuid(), gen_random_uuid(), 'outside', -$1::bigint * $2::bigint, $1, true)
    returning id
  ),
  opened as (
    insert into baseline_ledger.accounts (id, owner_id, kind, balance, version)
    select source, id, 'available', $2::bigint, 1 from owner
    union all
    select target, id, 'held', 0, 0 from owner
  ),
  funded as (
    insert into baseline_ledger.transfers (id, from_account_id, to_account_id, amount)
    select owner.transfer, outside.id, source, $2::bigint from owner, outside
  ),
  booked as (
    insert into baseline_ledger.entries
      (id, transfer_id, account_id, amount, balance_before, balance_after, account_version)
    select uuidv7(), transfer, outside.id, -$2::bigint, (1 - number) * $2::bigint, -number * $2::bigint, number
    from owner, outside
    union all
    select uuidv7(), transfer, source, $2::bigint, 0, $2::bigint, 1 from owner
  )
  select source, target from owner
`;

/** What must hold of its books after a run; answers what does not. */
export const BASELINE_AUDIT = `
  select 'transfer ' || transfer_id || ' nets to ' || sum(amount) as text
  from baseline_ledger.entries group by transfer_id having sum(amount) <> 0
  union all
  select 'account ' || account.id || ' holds ' || balance
  from baseline_ledger.accounts as account
  left join (
    select account_id, sum(amount) as total, count(*) as count from baseline_ledger.entries group by account_id
  ) as derived on account_id = account.id
  where version <> coalesce(count, 0) or balance <> coalesce(total, 0)
`;
