-- Counts the states that were announced on `accounts.events.v1`: 1 at the creation, one more each time that an
-- application is deactivated or activated. A rename is none.
alter table applications add column version integer not null default 1;

-- Who hears of applications takes one it never heard of for active. Those that are deactivated by now are announced
-- here, in the form of `application.changed`; later states have later versions.
with announced as (
  select uuidv7() as event_id, id, account_id, version
  from applications
  where not active
),
appended as (
  insert into events (event_id, topic, key, type, message)
  select
    event_id, 'accounts.events.v1', account_id::text, 'application.changed',
    json_build_object(
      'event_id', event_id,
      'type', 'application.changed',
      'version', 1,
      'occurred_at', to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'account_id', account_id,
      'application_id', id,
      'data', json_build_object('application_id', id, 'active', false, 'version', version)
    )
  from announced
)
insert into outbox (event_id)
select event_id from announced;
