-- Returns that a service has recorded as carried out, and that the acquirer shows otherwise by now: an operator has to
-- act, so reconciliation compares them in every run. A row goes when the acquirer shows the return again.
create table return_contradictions (
  end_to_end_id text not null,
  return_id text not null,
  -- What the acquirer shows.
  status text not null,
  seen_at timestamptz(3) not null default now(),
  primary key (end_to_end_id, return_id),
  constraint return_contradictions_status check (status in ('processing', 'failed'))
);

do $$
begin
  execute format('revoke truncate on return_contradictions from %I', 'pixmesh_' || current_schema);
end
$$;
