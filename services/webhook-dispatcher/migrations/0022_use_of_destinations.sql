-- When an event named it last, to within 30 days: the retention deletes what is not used any more (ADR 0014). What is
-- there already counts as used now: which late events it had is not known.
alter table destinations add column used_at timestamptz(3) not null default now();

-- By a trigger, so that processes of the version before note it too. It runs before the insertion looks for the row of
-- the resource. So it waits for the end of a deletion of that row, and then the event's own destination is stored.
create function note_use_of_destination() returns trigger language plpgsql set search_path from current as $$
begin
  update destinations
  set used_at = now()
  where resource_id = new.resource_id
    and used_at < now() - interval '30 days';
  return new;
end
$$;

create trigger destinations_use
  before insert on destinations
  for each row
  execute function note_use_of_destination();

do $$
begin
  execute format('grant delete on destinations to %I', 'pixmesh_' || current_schema);
end
$$;
