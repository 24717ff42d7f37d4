-- A full run on request is a stored job: it outlives the request and the process that took it. Its times are compared
-- with each other, so they are not cut to milliseconds.
alter table reconciliation_lease
  -- The newest request that no full run which began after it has answered.
  add column full_requested_at timestamptz,
  -- The run under way, of the process that holds the lease.
  add column run_started_at timestamptz,
  add column run_is_full boolean,
  add column run_compared bigint;
