-- A Pix may name no charge, or one that was never issued here.
alter table received_pix alter column txid drop not null;

alter table received_pix drop constraint received_pix_txid_fkey;

-- False: paid to a key that is not the account's. It is announced and shown, and is no money of the account.
alter table received_pix add column own boolean not null default true;

-- What the provider took for it.
alter table received_pix add column tariff bigint;

alter table received_pix add constraint received_pix_tariff check (tariff > 0);

-- Contests of received Pix under the MED.
create table disputes (
  id uuid primary key default gen_random_uuid(),
  protocol bigint generated always as identity,
  end_to_end_id text not null references received_pix (end_to_end_id),
  amount bigint not null,
  reason text not null,
  status text not null default 'ABERTA',
  opened_at timestamptz(3) not null default now_(),
  -- End of the time for a defence.
  deadline_at timestamptz(3) not null,
  defense_received_at timestamptz(3),
  -- `analise` and `justificativa` of the receiver.
  defense jsonb,
  decided_at timestamptz(3),
  constraint disputes_status check (
    status in ('ABERTA', 'EM_DEFESA', 'ACEITA', 'REJEITADA', 'CANCELADA_EFI')
  ),
  constraint disputes_amount check (amount between 1 and 999999999999),
  constraint disputes_decided_at check (
    (decided_at is null) = (status in ('ABERTA', 'EM_DEFESA'))
  )
) with (fillfactor = 80);

-- One open dispute per Pix; the list of a window; deadlines.
create unique index disputes_one_open on disputes (end_to_end_id)
where status in ('ABERTA', 'EM_DEFESA');

create index disputes_opened_at on disputes (opened_at, id);
create index disputes_deadline_at on disputes (deadline_at) where status = 'ABERTA';

-- Money of a received Pix that goes back to its payer: refunds, returns under the MED, and what nobody asked for.
create table received_returns (
  return_id text primary key,
  -- In the order in which they were accepted.
  number bigint generated always as identity,
  end_to_end_id text not null references received_pix (end_to_end_id),
  -- Chosen by whoever ordered it; taken for ever within its Pix.
  id text not null,
  status text not null default 'EM_PROCESSAMENTO',
  amount bigint not null,
  nature text not null,
  description text,
  -- `motivo` of what is not done; of a planned failure too.
  reason text,
  -- The dispute whose decision it follows.
  dispute_id uuid references disputes (id),
  requested_at timestamptz(3) not null default now_(),
  settled_at timestamptz(3),
  planned_status text not null default 'DEVOLVIDO',
  -- When it ends by itself; null where it does not.
  due_at timestamptz,
  -- Kept from ending until the fault script changes.
  held boolean not null default false,
  constraint received_returns_id unique (end_to_end_id, id),
  constraint received_returns_status check (
    status in ('EM_PROCESSAMENTO', 'DEVOLVIDO', 'NAO_REALIZADO')
  ),
  constraint received_returns_planned_status check (planned_status in ('DEVOLVIDO', 'NAO_REALIZADO')),
  constraint received_returns_amount check (amount between 1 and 999999999999),
  constraint received_returns_settled_at check ((settled_at is not null) = (status = 'DEVOLVIDO'))
) with (fillfactor = 80);

create index received_returns_due_at on received_returns (due_at) where due_at is not null;
create index received_returns_dispute_id on received_returns (dispute_id)
where dispute_id is not null;

alter table journal drop constraint journal_kind;

alter table journal add constraint journal_kind check (
  kind in (
    'issued', 'refused', 'canceled', 'paid',
    'sent', 'settled', 'rejected', 'returned', 'adjusted',
    'dispute_opened', 'dispute_decided'
  )
);
