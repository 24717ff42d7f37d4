-- Whoever makes an application, or turns it on or off, counts its version and writes its event. A writer that counts
-- no version is an older gateway while a new one is being rolled out, one that was rolled back to, or somebody with
-- psql: then the database counts and announces, so that no such change goes unheard.
create function announce_application(changed uuid) returns void
  language sql set search_path from current
as $$
  with counted as (
    update applications
    set version = version + 1
    where id = changed
    returning uuidv7() as event_id, id, account_id, active, version
  ),
  -- In the form of `application.changed`.
  appended as (
    insert into events (event_id, topic, key, type, message)
    select
      event_id, 'accounts.events.v1', account_id::text, 'application.changed',
      json_build_object(
        'event_id', event_id,
        'type', 'application.changed',
        'version', 1,
        'occurred_at', to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'account_id', account_id,
        'application_id', id,
        'data', json_build_object('application_id', id, 'active', active, 'version', version)
      )
    from counted
  )
  insert into outbox (event_id)
  select event_id from counted;
$$;

create function announce_uncounted_application() returns trigger
  language plpgsql set search_path from current
as $$
begin
  perform announce_application(new.id);
  return null;
end
$$;

-- 0 is what no gateway writes: the row of one that counts none.
alter table applications alter column version set default 0;

create trigger applications_uncounted_creation
  after insert on applications
  for each row
  when (new.version = 0)
  execute function announce_uncounted_application();

create trigger applications_uncounted_change
  after update on applications
  for each row
  when (new.active is distinct from old.active and new.version = old.version)
  execute function announce_uncounted_application();
