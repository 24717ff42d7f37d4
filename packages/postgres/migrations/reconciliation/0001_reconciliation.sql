-- One row: who reconciles now, and when the next run is due. A run takes longer than a transaction may, so the
-- lease has an expiry, and everything a run writes is guarded by its token.
create table reconciliation_lease (
  only_row boolean primary key default true,
  lease_token uuid,
  lease_until timestamptz(3),
  due_at timestamptz(3) not null default now(),
  -- When the newest finished run began and ended.
  started_at timestamptz(3),
  finished_at timestamptz(3),
  constraint reconciliation_lease_only_row check (only_row)
);

insert into reconciliation_lease default values;

-- The newest run of each check that compared everything it had to.
create table reconciliation_runs (
  check_name text primary key,
  compared bigint not null,
  -- The next incremental run looks at what changed since. Null: only a full run will do.
  watermark timestamptz(3),
  full_at timestamptz(3),
  finished_at timestamptz(3) not null
);

-- Differences as the newest run of their check left them. A row lives for as long as every run finds it again, so
-- that `since` tells its age across runs and restarts.
create table reconciliation_breaks (
  check_name text not null,
  kind text not null,
  id text not null,
  expected text,
  found text,
  amount bigint,
  -- When the two sides should have agreed, where the check knows it.
  changed_at timestamptz(3),
  since timestamptz(3) not null default now(),
  -- Younger than the window of its check: two records that are written one after the other, most likely.
  is_pending boolean not null,
  primary key (check_name, kind, id)
);

do $$
begin
  execute format('revoke insert, delete, truncate on reconciliation_lease from %I', 'pixmesh_' || current_schema);
  execute format('revoke truncate on reconciliation_runs, reconciliation_breaks from %I', 'pixmesh_' || current_schema);
end
$$;
