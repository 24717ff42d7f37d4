-- Full runs have a lease of their own: one that takes hours holds up no incremental run. The columns of
-- `reconciliation_lease` that speak of full runs serve the version before.
create table reconciliation_full_lease (
  only_row boolean primary key default true,
  lease_token uuid,
  lease_until timestamptz(3),
  -- The newest request that no full run which began after it has answered. Compared with the start of a run, so neither
  -- is cut to milliseconds.
  requested_at timestamptz,
  -- When the newest run began, and what it has compared; when the newest run that finished ended.
  started_at timestamptz,
  compared bigint,
  finished_at timestamptz(3),
  constraint reconciliation_full_lease_only_row check (only_row)
);

insert into reconciliation_full_lease (requested_at)
select full_requested_at from reconciliation_lease;

do $$
begin
  execute format('revoke insert, delete, truncate on reconciliation_full_lease from %I', 'pixmesh_' || current_schema);
end
$$;
