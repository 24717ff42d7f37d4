-- What the gateway has said of applications, by the version it counts. An application that is not here was never
-- heard of and counts as active.
create table applications (
  application_id uuid primary key,
  account_id uuid not null,
  active boolean not null,
  version integer not null,
  -- When the gateway made this version, by its clock.
  changed_at timestamptz(3) not null
);

-- Since when the application is deactivated; null while it is active (decision 160). It stands on the endpoint, so that
-- whoever asks whether an endpoint is sent to reads one row, and apart from the endpoint's own pause, which outlasts it.
alter table endpoints add column application_inactive_since timestamptz(3);

do $$
begin
  execute format('revoke delete, truncate on applications from %I', 'pixmesh_' || current_schema);
end
$$;
