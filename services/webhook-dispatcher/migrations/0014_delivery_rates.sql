-- Deliveries per second of an account, as the gateway announces them on `accounts.events.v1`, and what of them is left: all senders
-- take from the same row (ADR 0026). A row whose limit is null stays for its version.
create table delivery_rates (
  account_id uuid not null,
  per_second_max integer,
  version integer not null,
  tokens double precision not null default 0,
  filled_at timestamptz(3) not null default now(),
  constraint delivery_rates_pkey primary key (account_id),
  constraint delivery_rates_max check (per_second_max >= 1)
);
