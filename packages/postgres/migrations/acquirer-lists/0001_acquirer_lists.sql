-- How far lists of the acquirer have been read, one row a reading, for all replicas.
create table acquirer_lists (
  name text primary key,
  -- Whatever the acquirer showed before this instant has been compared.
  listed_until timestamptz(3) not null default now(),
  -- The window in work, whose ends stay as they are until its last page is read, and its next page.
  window_from timestamptz(3),
  window_to timestamptz(3),
  -- When the reading began that this window is a part of: `listed_until` once it ends.
  began_at timestamptz(3),
  page integer not null default 0,
  check_at timestamptz(3) default now(),
  checks integer not null default 0,
  check_traceparent text,
  lease_token uuid,
  lease_until timestamptz(3),
  constraint acquirer_lists_window check (
    (window_from is null) = (window_to is null) and (window_from is null) = (began_at is null)
    and (window_from is not null or page = 0) and page >= 0
  )
);

do $$
begin
  execute format('revoke delete, truncate on acquirer_lists from %I', 'pixmesh_' || current_schema);
end
$$;
