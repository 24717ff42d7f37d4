-- Bodies of acquirer callbacks exactly as received, durable before the acquirer gets its 2xx.
create table callbacks (
  id uuid primary key,
  body bytea not null,
  -- False where the body could not be read; it waits here for a person.
  parsed boolean not null,
  -- Items appended to `events` in the same statement, and items that could not be.
  items integer not null,
  items_skipped integer not null,
  received_at timestamptz(3) not null default now()
);

create index callbacks_unreadable on callbacks (id desc) where not parsed or items_skipped > 0;

do $$
begin
  execute format('revoke update, delete, truncate on callbacks from %I', 'pixmesh_' || current_schema);
end
$$;
