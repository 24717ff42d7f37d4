-- Announces the applications that gateways of before 0006 turned on or off after it, and before 0007 kept watch: what
-- was last said of them, or nothing, which means active, is not what they are.
with heard as (
  select distinct on (application_id) application_id, active
  from (
    select
      (message ->> 'application_id')::uuid as application_id,
      (message -> 'data' ->> 'active')::boolean as active,
      (message -> 'data' ->> 'version')::integer as version
    from events
    where topic = 'accounts.events.v1' and type = 'application.changed'
  ) as said
  order by application_id, version desc
)
select announce_application(id)
from applications
left join heard on heard.application_id = applications.id
where applications.active is distinct from coalesce(heard.active, true);
