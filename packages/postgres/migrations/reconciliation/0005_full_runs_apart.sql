-- Full runs have a lease of their own: one that takes hours holds up no incremental run. The columns of
-- `reconciliation_lease` that speak of full runs serve the version before.
create table reconciliation_full_lease (
  only_row boolean primary key default true,
  lease_token uuid,
  lease_until timestamptz(3),
  -- The newest request that no full run which began after it has answered. Compared with the start of a run, so
  -- neither is cut to milliseconds.
  requested_at timestamptz,
  -- The run under way, of the process that holds the lease.
  started_at timestamptz,
  compared bigint,
  -- The end of the newest finished run.
  finished_at timestamptz(3),
  constraint reconciliation_full_lease_only_row check (only_row)
);

insert into reconciliation_full_lease default values;

do $$
begin
  execute format('revoke insert, delete, truncate on reconciliation_full_lease from %I', 'pixmesh_' || current_schema);
end
$$;
