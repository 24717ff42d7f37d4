-- Charges as the provider records them. An expired one stays ATIVA: its end is derived from its time.
create table charges (
  txid text primary key,
  -- Number of the location in answers (`loc.id`).
  number bigint generated always as identity,
  status text not null default 'ATIVA',
  amount bigint not null,
  pix_key text not null,
  expires_in_seconds integer not null,
  location text not null,
  br_code text not null,
  revision integer not null default 0,
  debtor jsonb,
  payer_request text,
  additional_info jsonb,
  created_at timestamptz(3) not null default now(),
  constraint charges_status check (
    status in ('ATIVA', 'CONCLUIDA', 'REMOVIDA_PELO_USUARIO_RECEBEDOR', 'REMOVIDA_PELO_PSP')
  ),
  constraint charges_amount check (amount between 1 and 999999999999),
  constraint charges_expires_in_seconds check (expires_in_seconds > 0)
) with (fillfactor = 80);

-- Money that has arrived. One row per end-to-end id, whatever is announced about it.
create table received_pix (
  end_to_end_id text primary key,
  txid text not null references charges (txid),
  pix_key text not null,
  amount bigint not null,
  paid_at timestamptz(3) not null,
  recorded_at timestamptz(3) not null default now(),
  constraint received_pix_amount check (amount between 1 and 999999999999)
);

create index received_pix_txid on received_pix (txid, recorded_at);
create index received_pix_paid_at on received_pix (paid_at, end_to_end_id);

-- Where the notices of one Pix key go.
create table webhooks (
  pix_key text primary key,
  url text not null,
  created_at timestamptz(3) not null default now()
);

-- Notices still to be sent; a delivered one is deleted. A claim moves next_attempt_at behind the attempt.
create table callbacks (
  id bigint generated always as identity primary key,
  pix_key text not null,
  body text not null,
  attempts integer not null default 0,
  claimed boolean not null default false,
  -- Held back until another notice has overtaken it (fault `reorder`).
  held boolean not null default false,
  -- Null once every attempt was in vain.
  next_attempt_at timestamptz,
  created_at timestamptz(3) not null default now()
);

create index callbacks_next_attempt_at on callbacks (next_attempt_at)
where next_attempt_at is not null;

-- The simulator's own truth, against which tests check everything.
create table journal (
  sequence bigint generated always as identity primary key,
  at timestamptz(3) not null default now(),
  kind text not null,
  txid text,
  id_envio text,
  end_to_end_id text,
  amount bigint,
  natureza text,
  constraint journal_kind check (kind in ('issued', 'refused', 'canceled', 'paid'))
);

-- What the control API has set: fault script, profile, behaviours of the development receiver.
create table settings (
  name text primary key,
  value jsonb not null
);

-- What the development receiver was sent. The sequence goes on whatever is deleted.
create table receiver_requests (
  sequence bigint generated always as identity primary key,
  method text not null,
  host text not null,
  path text not null,
  headers jsonb not null,
  body bytea not null,
  received_at timestamptz(3) not null,
  answered_status integer
);

-- The truth is only ever added to.
revoke update, delete, truncate on journal from pixmesh_acquirer_simulator;
