-- When `active` was last changed, or the application made. Null: before this was kept.
alter table applications add column active_changed_at timestamptz(3);
alter table applications alter column active_changed_at set default now();

-- Kept here, so that every writer keeps it: also a gateway of before this, and a person with psql.
create function keep_active_changed_at() returns trigger
  language plpgsql set search_path from current
as $$
begin
  new.active_changed_at := clock_timestamp();
  return new;
end
$$;

create trigger applications_active_changed
  before update on applications
  for each row
  when (new.active is distinct from old.active)
  execute function keep_active_changed_at();

-- As in 0007, but with the time of the change, also where a state is announced again: the dispatcher decides by that
-- time which events the change concerns.
create or replace function announce_application(changed uuid) returns void
  language sql set search_path from current
as $$
  with counted as (
    update applications
    set version = version + 1
    where id = changed
    returning
      uuidv7() as event_id, id, account_id, active, version,
      coalesce(active_changed_at, clock_timestamp()) as occurred_at
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
        'occurred_at', to_char(occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'account_id', account_id,
        'application_id', id,
        'data', json_build_object('application_id', id, 'active', active, 'version', version)
      )
    from counted
  )
  insert into outbox (event_id)
  select event_id from counted;
$$;
