-- What was not sent, for the lists of it: the status again, where that is `failed`, `skipped` or `canceled`. The status itself
-- is then in no index, so that a delivery that succeeds is updated in its page and no index is written (ADR 0035).
alter table deliveries add column unsent text;

-- By a trigger, so that processes of the version before keep it too. It does not run for a delivery that is queued or succeeds.
create function note_unsent_insert() returns trigger language plpgsql as $$
begin
  new.unsent := new.status;
  return new;
end
$$;

create function note_unsent_update() returns trigger language plpgsql set search_path from current as $$
begin
  update deliveries
  set unsent = case when new.status in ('failed', 'skipped', 'canceled') then new.status end
  where id = new.id;
  return null;
end
$$;

create trigger deliveries_unsent_insert
  before insert on deliveries
  for each row
  when (new.status in ('failed', 'skipped', 'canceled'))
  execute function note_unsent_insert();

-- After the update: one before it would lock and log every row that is updated.
create trigger deliveries_unsent_update
  after update of status on deliveries
  for each row
  when (
    old.status is distinct from new.status
    and (old.status in ('failed', 'skipped', 'canceled') or new.status in ('failed', 'skipped', 'canceled'))
  )
  execute function note_unsent_update();
