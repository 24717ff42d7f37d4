-- Schema acquirer_simulator: the sum of its migrations. Written by a test; UPDATE_GOLDEN=1 refreshes it.

create table callbacks (
  id bigint generated always as identity not null,
  pix_key text not null,
  body text not null,
  attempts integer default 0 not null,
  claimed boolean default false not null,
  held boolean default false not null,
  next_attempt_at timestamp with time zone,
  created_at timestamp(3) with time zone default now() not null,
  alone boolean default false not null,
  constraint callbacks_pkey PRIMARY KEY (id)
);
CREATE INDEX callbacks_next_attempt_at ON callbacks USING btree (next_attempt_at) WHERE next_attempt_at IS NOT NULL;

create table charges (
  txid text not null,
  number bigint generated always as identity not null,
  status text default 'ATIVA'::text not null,
  amount bigint not null,
  pix_key text not null,
  expires_in_seconds integer not null,
  location text not null,
  br_code text not null,
  revision integer default 0 not null,
  debtor jsonb,
  payer_request text,
  additional_info jsonb,
  created_at timestamp(3) with time zone default now_() not null,
  pays_at timestamp with time zone,
  constraint charges_pkey PRIMARY KEY (txid),
  constraint charges_amount CHECK (((amount >= 1) AND (amount <= '999999999999'::bigint))),
  constraint charges_expires_in_seconds CHECK ((expires_in_seconds > 0)),
  constraint charges_status CHECK ((status = ANY (ARRAY['ATIVA'::text, 'CONCLUIDA'::text, 'REMOVIDA_PELO_USUARIO_RECEBEDOR'::text, 'REMOVIDA_PELO_PSP'::text])))
) with (fillfactor=80);
CREATE INDEX charges_location ON charges USING btree (location);
CREATE INDEX charges_number ON charges USING btree (number);
CREATE INDEX charges_pays_at ON charges USING btree (pays_at) WHERE pays_at IS NOT NULL;

create table clock (
  only_row boolean default true not null,
  offset_seconds bigint default 0 not null,
  constraint clock_pkey PRIMARY KEY (only_row),
  constraint clock_only_row CHECK (only_row)
);

create table disputes (
  id uuid default gen_random_uuid() not null,
  protocol bigint generated always as identity not null,
  end_to_end_id text not null,
  amount bigint not null,
  reason text not null,
  status text default 'ABERTA'::text not null,
  opened_at timestamp(3) with time zone default now_() not null,
  deadline_at timestamp(3) with time zone not null,
  defense_received_at timestamp(3) with time zone,
  defense jsonb,
  decided_at timestamp(3) with time zone,
  constraint disputes_pkey PRIMARY KEY (id),
  constraint disputes_amount CHECK (((amount >= 1) AND (amount <= '999999999999'::bigint))),
  constraint disputes_decided_at CHECK (((decided_at IS NULL) = (status = ANY (ARRAY['ABERTA'::text, 'EM_DEFESA'::text])))),
  constraint disputes_end_to_end_id_fkey FOREIGN KEY (end_to_end_id) REFERENCES received_pix(end_to_end_id),
  constraint disputes_status CHECK ((status = ANY (ARRAY['ABERTA'::text, 'EM_DEFESA'::text, 'ACEITA'::text, 'REJEITADA'::text, 'CANCELADA_EFI'::text])))
) with (fillfactor=80);
CREATE INDEX disputes_deadline_at ON disputes USING btree (deadline_at) WHERE status = 'ABERTA'::text;
CREATE UNIQUE INDEX disputes_one_open ON disputes USING btree (end_to_end_id) WHERE status = ANY (ARRAY['ABERTA'::text, 'EM_DEFESA'::text]);
CREATE INDEX disputes_opened_at ON disputes USING btree (opened_at, id);

create table journal (
  sequence bigint generated always as identity not null,
  at timestamp(3) with time zone default now_() not null,
  kind text not null,
  txid text,
  id_envio text,
  end_to_end_id text,
  amount bigint,
  natureza text,
  constraint journal_pkey PRIMARY KEY (sequence),
  constraint journal_kind CHECK ((kind = ANY (ARRAY['issued'::text, 'refused'::text, 'canceled'::text, 'paid'::text, 'sent'::text, 'settled'::text, 'rejected'::text, 'returned'::text, 'adjusted'::text, 'dispute_opened'::text, 'dispute_decided'::text])))
);

create table received_pix (
  end_to_end_id text not null,
  txid text,
  pix_key text not null,
  amount bigint not null,
  paid_at timestamp(3) with time zone not null,
  recorded_at timestamp(3) with time zone default now_() not null,
  own boolean default true not null,
  tariff bigint,
  constraint received_pix_pkey PRIMARY KEY (end_to_end_id),
  constraint received_pix_amount CHECK (((amount >= 1) AND (amount <= '999999999999'::bigint))),
  constraint received_pix_tariff CHECK ((tariff > 0))
);
CREATE INDEX received_pix_paid_at ON received_pix USING btree (paid_at, end_to_end_id);
CREATE INDEX received_pix_recorded_at ON received_pix USING btree (recorded_at, end_to_end_id);
CREATE INDEX received_pix_txid ON received_pix USING btree (txid, recorded_at);

create table received_returns (
  return_id text not null,
  number bigint generated always as identity not null,
  end_to_end_id text not null,
  id text not null,
  status text default 'EM_PROCESSAMENTO'::text not null,
  amount bigint not null,
  nature text not null,
  description text,
  reason text,
  dispute_id uuid,
  requested_at timestamp(3) with time zone default now_() not null,
  settled_at timestamp(3) with time zone,
  planned_status text default 'DEVOLVIDO'::text not null,
  due_at timestamp with time zone,
  held boolean default false not null,
  constraint received_returns_pkey PRIMARY KEY (return_id),
  constraint received_returns_amount CHECK (((amount >= 1) AND (amount <= '999999999999'::bigint))),
  constraint received_returns_dispute_id_fkey FOREIGN KEY (dispute_id) REFERENCES disputes(id),
  constraint received_returns_end_to_end_id_fkey FOREIGN KEY (end_to_end_id) REFERENCES received_pix(end_to_end_id),
  constraint received_returns_id UNIQUE (end_to_end_id, id),
  constraint received_returns_planned_status CHECK ((planned_status = ANY (ARRAY['DEVOLVIDO'::text, 'NAO_REALIZADO'::text]))),
  constraint received_returns_settled_at CHECK (((settled_at IS NOT NULL) = (status = 'DEVOLVIDO'::text))),
  constraint received_returns_status CHECK ((status = ANY (ARRAY['EM_PROCESSAMENTO'::text, 'DEVOLVIDO'::text, 'NAO_REALIZADO'::text])))
) with (fillfactor=80);
CREATE INDEX received_returns_dispute_id ON received_returns USING btree (dispute_id) WHERE dispute_id IS NOT NULL;
CREATE INDEX received_returns_due_at ON received_returns USING btree (due_at) WHERE due_at IS NOT NULL;

create table receiver_requests (
  sequence bigint generated always as identity not null,
  method text not null,
  host text not null,
  path text not null,
  headers jsonb not null,
  body bytea not null,
  received_at timestamp(3) with time zone not null,
  answered_status integer,
  constraint receiver_requests_pkey PRIMARY KEY (sequence)
);

create table send_returns (
  return_id text not null,
  id text not null,
  end_to_end_id text not null,
  amount bigint not null,
  nature text not null,
  returned_at timestamp(3) with time zone default now_() not null,
  constraint send_returns_pkey PRIMARY KEY (return_id),
  constraint send_returns_amount CHECK (((amount >= 1) AND (amount <= '999999999999'::bigint))),
  constraint send_returns_end_to_end_id_fkey FOREIGN KEY (end_to_end_id) REFERENCES sends(end_to_end_id)
);
CREATE INDEX send_returns_end_to_end_id ON send_returns USING btree (end_to_end_id, returned_at);

create table sends (
  end_to_end_id text not null,
  id_envio text,
  status text default 'EM_PROCESSAMENTO'::text not null,
  amount bigint not null,
  pix_key text not null,
  payer_text text,
  recipient jsonb not null,
  requested_at timestamp(3) with time zone default now_() not null,
  settled_at timestamp(3) with time zone,
  planned_status text default 'REALIZADO'::text not null,
  error jsonb,
  planned_returns bigint[] default '{}'::bigint[] not null,
  due_at timestamp with time zone,
  held boolean default false not null,
  constraint sends_pkey PRIMARY KEY (end_to_end_id),
  constraint sends_amount CHECK (((amount >= 1) AND (amount <= '999999999999'::bigint))),
  constraint sends_id_envio UNIQUE (id_envio),
  constraint sends_planned_status CHECK ((planned_status = ANY (ARRAY['REALIZADO'::text, 'NAO_REALIZADO'::text]))),
  constraint sends_status CHECK ((status = ANY (ARRAY['EM_PROCESSAMENTO'::text, 'REALIZADO'::text, 'NAO_REALIZADO'::text])))
) with (fillfactor=80);
CREATE INDEX sends_due_at ON sends USING btree (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX sends_requested_at ON sends USING btree (requested_at, end_to_end_id);

create table settings (
  name text not null,
  value jsonb not null,
  constraint settings_pkey PRIMARY KEY (name)
);

create table webhooks (
  pix_key text not null,
  url text not null,
  created_at timestamp(3) with time zone default now_() not null,
  constraint webhooks_pkey PRIMARY KEY (pix_key)
);

CREATE OR REPLACE FUNCTION acquirer_simulator.now_()
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE
BEGIN ATOMIC
 SELECT (now() + ((clock.offset_seconds)::double precision * '00:00:01'::interval))
    FROM clock;
END;

grant delete, insert, select, update on callbacks to pixmesh_acquirer_simulator;
grant delete, insert, select, update on charges to pixmesh_acquirer_simulator;
grant delete, insert, select, update on disputes to pixmesh_acquirer_simulator;
grant delete, insert, select, update on received_pix to pixmesh_acquirer_simulator;
grant delete, insert, select, update on received_returns to pixmesh_acquirer_simulator;
grant delete, insert, select, update on receiver_requests to pixmesh_acquirer_simulator;
grant delete, insert, select, update on send_returns to pixmesh_acquirer_simulator;
grant delete, insert, select, update on sends to pixmesh_acquirer_simulator;
grant delete, insert, select, update on settings to pixmesh_acquirer_simulator;
grant delete, insert, select, update on webhooks to pixmesh_acquirer_simulator;
grant insert, select on journal to pixmesh_acquirer_simulator;
grant select, update on clock to pixmesh_acquirer_simulator;
