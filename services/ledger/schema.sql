-- Schema ledger: the sum of its migrations. Written by a test; UPDATE_GOLDEN=1 refreshes it.
-- As in packages/postgres/mechanisms.sql: table dead_letters, table events, table leases, table message_schemas, table outbox, table reconciliation_breaks, table reconciliation_full_lease, table reconciliation_lease, table reconciliation_runs, table unanswered_commands, function ensure_event_partitions, function uuid_v7_floor, grant on outbox, grant on dead_letters, grant on reconciliation_breaks, grant on reconciliation_runs, grant on unanswered_commands, grant on events, grant on message_schemas, grant on leases, grant on reconciliation_full_lease, grant on reconciliation_lease.

create type account_kind as enum ('available', 'pending', 'held', 'blocked', 'suspense', 'acquirer_clearing', 'fees', 'acquirer_tariffs');

create type command_outcome as enum ('booked', 'noted', 'insufficient_balance', 'unknown_pix', 'exceeds_received', 'voided', 'resource_held', 'already_held', 'already_settled', 'already_released', 'already_voided');

create type hold_kind as enum ('payout', 'refund');

create type hold_state as enum ('refused', 'open', 'settled', 'released', 'voided');

create type journal_kind as enum ('take_hold', 'void_hold', 'settle_hold', 'release_hold', 'credit_received_pix', 'suspend_received_pix', 'release_pending', 'credit_payout_return', 'suspend_payout', 'book_acquirer_tariff', 'block_disputed', 'unblock_disputed', 'return_disputed', 'return_received_pix', 'resolve_suspense', 'credit_suspense');

create table accounts (
  account_id uuid not null,
  available bigint default 0 not null,
  pending bigint default 0 not null,
  held bigint default 0 not null,
  blocked bigint default 0 not null,
  suspense bigint default 0 not null,
  acquirer_clearing bigint default 0 not null,
  fees bigint default 0 not null,
  acquirer_tariffs bigint default 0 not null,
  forced_debit bigint default 0 not null,
  version bigint default 0 not null,
  moved_at timestamp(3) with time zone default '-infinity'::timestamp with time zone not null,
  constraint accounts_pkey PRIMARY KEY (account_id),
  constraint accounts_available_floor CHECK (((available + forced_debit) >= 0)),
  constraint accounts_forced_debit CHECK ((forced_debit >= 0)),
  constraint accounts_parts_floor CHECK (((pending >= 0) AND (held >= 0) AND (blocked >= 0)))
) with (fillfactor=50);

create table entries (
  account_id uuid not null,
  version bigint not null,
  amount bigint not null,
  balance_after bigint not null,
  kind account_kind not null,
  constraint entries_pkey PRIMARY KEY (account_id, kind, version),
  constraint entries_amount CHECK ((amount <> 0))
);

create table holds (
  hold_id uuid not null,
  account_id uuid not null,
  resource_id uuid not null,
  amount bigint not null,
  fee bigint not null,
  created_at timestamp(3) with time zone not null,
  state hold_state not null,
  kind hold_kind,
  constraint holds_pkey PRIMARY KEY (hold_id),
  constraint holds_money CHECK (((amount >= 0) AND (fee >= 0)))
);
CREATE INDEX holds_open ON holds USING btree (kind) WHERE state = 'open'::hold_state;
CREATE UNIQUE INDEX holds_resource ON holds USING btree (resource_id) WHERE state = ANY (ARRAY['open'::hold_state, 'settled'::hold_state]);

create table journals (
  command_id uuid not null,
  account_id uuid not null,
  version bigint,
  created_at timestamp(3) with time zone not null,
  kind journal_kind not null,
  outcome command_outcome not null,
  fingerprint uuid not null,
  resource_id uuid,
  constraint journals_pkey PRIMARY KEY (command_id),
  constraint journals_numbered CHECK (((outcome = 'booked'::command_outcome) = (version IS NOT NULL))),
  constraint journals_version UNIQUE (account_id, version)
);
CREATE INDEX journals_by_time ON journals USING btree (created_at, command_id) WHERE kind <> ALL (ARRAY['take_hold'::journal_kind, 'void_hold'::journal_kind]);
CREATE INDEX journals_of_payouts ON journals USING btree (created_at, command_id) WHERE kind = ANY (ARRAY['credit_payout_return'::journal_kind, 'suspend_payout'::journal_kind, 'resolve_suspense'::journal_kind]);
CREATE INDEX journals_payout_returns ON journals USING btree (created_at, command_id) WHERE kind = 'credit_payout_return'::journal_kind;

create table pix_debits (
  account_id uuid not null,
  end_to_end_id text not null,
  received bigint not null,
  refunding bigint not null,
  refunded bigint not null,
  returned bigint not null,
  blocked bigint not null,
  shortfall bigint not null,
  dispute_id uuid,
  disputed bigint not null,
  constraint pix_debits_pkey PRIMARY KEY (account_id, end_to_end_id),
  constraint pix_debits_disputed CHECK (((dispute_id IS NULL) = (disputed = 0))),
  constraint pix_debits_floor CHECK (((refunding >= 0) AND (refunded >= 0) AND (returned >= 0) AND (blocked >= 0) AND (shortfall >= 0) AND (disputed >= 0))),
  constraint pix_debits_received CHECK ((((refunded + returned) + blocked) <= received))
);
CREATE INDEX pix_debits_blocked ON pix_debits USING btree (account_id) WHERE blocked <> 0;

create table refund_holds (
  hold_id uuid not null,
  account_id uuid not null,
  end_to_end_id text not null,
  from_block bigint not null,
  constraint refund_holds_pkey PRIMARY KEY (hold_id),
  constraint refund_holds_from_block CHECK ((from_block >= 0))
);

create table releases (
  command_id uuid not null,
  account_id uuid not null,
  amount bigint not null,
  release_at timestamp(3) with time zone not null,
  leased_until timestamp(3) with time zone default '-infinity'::timestamp with time zone not null,
  constraint releases_pkey PRIMARY KEY (command_id)
);
CREATE INDEX releases_due ON releases USING btree (release_at);

create table suspense_items (
  id uuid not null,
  account_id uuid not null,
  end_to_end_id text,
  charge_id uuid,
  payout_id uuid,
  amount bigint not null,
  reason text not null,
  created_at timestamp(3) with time zone not null,
  resolved_at timestamp(3) with time zone,
  constraint suspense_items_pkey PRIMARY KEY (id)
);
CREATE INDEX suspense_items_newest ON suspense_items USING btree (created_at, id);
CREATE INDEX suspense_items_open ON suspense_items USING btree (created_at) WHERE resolved_at IS NULL;

CREATE OR REPLACE FUNCTION ledger.lock_batch(owners uuid[], commands uuid[], hold_ids uuid[], resources uuid[])
 RETURNS SETOF batch_state
 LANGUAGE plpgsql
 SET lock_timeout TO '500ms'
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION ledger.refuse_unbalanced_journals()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION ledger.version_at(owner uuid, instant timestamp with time zone)
 RETURNS bigint
 LANGUAGE plpgsql
 STABLE
AS $function$
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
$function$;

CREATE TRIGGER entries_balanced AFTER INSERT ON entries REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION refuse_unbalanced_journals();

grant delete, insert, select, update on releases to pixmesh_ledger;
grant insert, select on entries to pixmesh_ledger;
grant insert, select on journals to pixmesh_ledger;
grant insert, select on refund_holds to pixmesh_ledger;
grant insert, select, update on accounts to pixmesh_ledger;
grant insert, select, update on holds to pixmesh_ledger;
grant insert, select, update on pix_debits to pixmesh_ledger;
grant insert, select, update on suspense_items to pixmesh_ledger;
