-- The tenants of the installation, with the settings that owners of resources decide by.
create table accounts (
  id uuid primary key,
  name text not null,
  legal_name text not null,
  -- CPF or CNPJ without mask.
  document text not null,
  document_type text not null,
  -- E.164 or empty, never null (decision 41).
  phone text not null,
  status text not null,
  onboarding_status text not null,
  auto_payout_enabled boolean not null,
  payouts_enabled boolean not null,
  -- Cents.
  payout_fee bigint not null,
  charge_expires_in integer not null,
  release_delay_seconds integer not null,
  late_payment_policy text not null,
  created_at timestamptz(3) not null default now(),
  constraint accounts_document_type check (document_type in ('cpf', 'cnpj')),
  constraint accounts_status check (status in ('active', 'inactive')),
  constraint accounts_onboarding_status check (
    onboarding_status in ('pending', 'in_review', 'approved', 'rejected')
  ),
  -- Decision 39.
  constraint accounts_rejected_is_inactive check (onboarding_status <> 'rejected' or status = 'inactive'),
  constraint accounts_payout_fee check (payout_fee >= 0),
  constraint accounts_charge_expires_in check (charge_expires_in between 60 and 604800),
  constraint accounts_release_delay check (release_delay_seconds >= 0),
  constraint accounts_late_payment_policy check (late_payment_policy in ('accept', 'suspense'))
);

create index accounts_newest on accounts (created_at desc, id desc);

-- One consuming system of an account: the namespace of its idempotency keys.
create table applications (
  id uuid primary key,
  account_id uuid not null,
  name text not null,
  active boolean not null,
  -- Digest of the normalised body, to notice another body under the same Idempotency-Key.
  fingerprint bytea not null,
  created_at timestamptz(3) not null default now(),
  constraint applications_account foreign key (account_id) references accounts (id)
);

create index applications_newest on applications (account_id, created_at desc, id desc);

-- API keys: the public id in clear, the key itself only as HMAC under a pepper that is not in the database.
create table api_keys (
  id uuid primary key,
  application_id uuid not null,
  public_id text not null,
  digest bytea not null,
  pepper_version smallint not null default 1,
  name text not null,
  scopes text[] not null,
  suspended boolean not null default false,
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  fingerprint bytea not null,
  created_at timestamptz(3) not null default now(),
  constraint api_keys_application foreign key (application_id) references applications (id),
  constraint api_keys_public_id unique (public_id),
  constraint api_keys_digest check (octet_length(digest) = 32)
);

create index api_keys_newest on api_keys (application_id, created_at desc, id desc);

-- Tenants and keys are switched off, never deleted: history refers to them.
do $$
begin
  execute format('revoke delete, truncate on accounts from %I', 'pixmesh_' || current_schema);
  execute format('revoke delete, truncate on applications from %I', 'pixmesh_' || current_schema);
  execute format('revoke delete, truncate on api_keys from %I', 'pixmesh_' || current_schema);
end
$$;
