-- Breaks of reconciliation that were seen while a stop of their account, or of all, was in force: what an operator has seen and
-- ended does not stop again for as long as it lasts (ADR 0031). One that has healed and comes back has another `since`.
create table payout_stop_breaks (
  service text not null,
  check_name text not null,
  kind text not null,
  break_id text not null,
  since timestamptz(3) not null,
  stop_id uuid not null references payout_stops (id),
  constraint payout_stop_breaks_pkey primary key (service, check_name, kind, break_id, since)
);

-- A stop is shown with its breaks.
create index payout_stop_breaks_stop on payout_stop_breaks (stop_id);

do $$
begin
  execute format('revoke update, delete, truncate on payout_stop_breaks from %I', 'pixmesh_' || current_schema);
end
$$;
