-- Orders to pay somebody. One row per order, whatever is announced about it; an idEnvio is taken for ever.
create table sends (
  end_to_end_id text primary key,
  -- Null for money that left the account by another way than this API.
  id_envio text,
  status text not null default 'EM_PROCESSAMENTO',
  amount bigint not null,
  pix_key text not null,
  payer_text text,
  -- `favorecido` as API Pix shows it.
  recipient jsonb not null,
  requested_at timestamptz(3) not null default now(),
  settled_at timestamptz(3),
  -- What is to become of it, decided when it was accepted, and why where that is a rejection.
  planned_status text not null default 'REALIZADO',
  error jsonb,
  -- Amounts that the recipient will send back, one after the other, once it has settled.
  planned_returns bigint[] not null default '{}',
  -- When the next of these happens by itself; null where nothing does.
  due_at timestamptz,
  -- Kept from settling until the fault script changes.
  held boolean not null default false,
  constraint sends_id_envio unique (id_envio),
  constraint sends_status check (status in ('EM_PROCESSAMENTO', 'REALIZADO', 'NAO_REALIZADO')),
  constraint sends_planned_status check (planned_status in ('REALIZADO', 'NAO_REALIZADO')),
  constraint sends_amount check (amount between 1 and 999999999999)
) with (fillfactor = 80);

-- The job that settles, and the list of a window.
create index sends_due_at on sends (due_at) where due_at is not null;
create index sends_requested_at on sends (requested_at, end_to_end_id);

-- Money that a recipient's institution sent back.
create table send_returns (
  return_id text primary key,
  id text not null,
  end_to_end_id text not null references sends (end_to_end_id),
  amount bigint not null,
  nature text not null,
  returned_at timestamptz(3) not null default now(),
  constraint send_returns_amount check (amount between 1 and 999999999999)
);

create index send_returns_end_to_end_id on send_returns (end_to_end_id, returned_at);

-- A charge that pays itself (profile `efi`).
alter table charges add column pays_at timestamptz;

create index charges_pays_at on charges (pays_at) where pays_at is not null;

alter table journal drop constraint journal_kind;

alter table journal add constraint journal_kind check (
  kind in (
    'issued', 'refused', 'canceled', 'paid',
    'sent', 'settled', 'rejected', 'returned', 'adjusted'
  )
);
