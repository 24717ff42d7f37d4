-- One row per request on /v1: key id, route, status and duration, never a body or a key (decision 23).
create table request_log (
  id uuid primary key,
  -- Null where the request was not authenticated.
  account_id uuid,
  application_id uuid,
  key_id uuid,
  method text not null,
  -- The template, or `unknown`.
  route text not null,
  status smallint not null,
  duration_ms integer not null,
  request_id uuid not null,
  idempotency_mismatch boolean not null,
  created_at timestamptz(3) not null
) with (autovacuum_vacuum_insert_scale_factor = 0.05);

create index request_log_account on request_log (account_id, id desc) where account_id is not null;

do $$
begin
  execute format('revoke update, delete, truncate on request_log from %I', 'pixmesh_' || current_schema);
end
$$;
