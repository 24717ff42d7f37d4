-- People and tools that may call /admin; the token only as SHA-256 of its random bits.
create table operators (
  id uuid primary key,
  name text not null,
  token_digest bytea not null,
  created_at timestamptz(3) not null default now(),
  removed_at timestamptz(3),
  constraint operators_token_digest unique (token_digest),
  constraint operators_token_digest_length check (octet_length(token_digest) = 32)
);

create index operators_newest on operators (created_at desc, id desc) where removed_at is null;

-- Who changed what, written in the transaction of the change; digests prove the states, and hold no data.
create table audit_log (
  id uuid primary key,
  -- Id of an operator, or `bootstrap`.
  actor text not null,
  action text not null,
  target_kind text not null,
  target_id text not null,
  digest_before bytea,
  digest_after bytea,
  created_at timestamptz(3) not null default now()
);

create index audit_log_target on audit_log (target_id, id desc);

do $$
begin
  execute format('revoke delete, truncate on operators from %I', 'pixmesh_' || current_schema);
  execute format('revoke update, delete, truncate on audit_log from %I', 'pixmesh_' || current_schema);
end
$$;
