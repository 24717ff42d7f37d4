-- The request log in weekly partitions by the time inside its UUIDv7 id, so that its retention drops a week and
-- never deletes a row. Name and columns stay, so gateways of the release before go on writing and reading.
-- Attaching reads and indexes what is there while gateways keep their rows in memory: seconds for millions of rows.
alter table request_log rename to request_log_first;
alter table request_log_first alter column method drop not null, alter column route drop not null;
alter table request_log_first rename constraint request_log_pkey to request_log_first_pkey;
alter index request_log_account rename to request_log_first_account;

create table request_log (
  id uuid primary key,
  -- Null where the request was not authenticated.
  account_id uuid,
  application_id uuid,
  key_id uuid,
  -- Null where the bytes that came were no HTTP.
  method text,
  -- The template; null where no route was met.
  route text,
  status smallint not null,
  duration_ms integer not null,
  request_id uuid not null,
  idempotency_mismatch boolean not null,
  created_at timestamptz(3) not null
) partition by range (id);

-- Each filter of `GET /admin/requests` that may be rare has its own; the newest rows come first in all.
create index request_log_account on request_log (account_id, id desc) where account_id is not null;
create index request_log_application on request_log (application_id, id desc) where application_id is not null;
create index request_log_key on request_log (key_id, id desc) where key_id is not null;
create index request_log_route on request_log (route, id desc);
create index request_log_refused on request_log (status, id desc) where status >= 300;

insert into leases (name) values ('request-log');

-- Creates the weekly partitions up to `weeks_ahead` weeks from now. Idempotent, and safe from several sessions at
-- once. As with `ensure_event_partitions`, it runs with the rights of the schema's owner.
create function ensure_request_log_partitions(weeks_ahead integer) returns void
  language plpgsql security definer set timezone to 'UTC' set search_path from current
as $$
declare
  schema constant text := current_schema;
  week timestamptz := date_trunc('week', now());
  partition text;
begin
  perform pg_advisory_xact_lock(hashtext('request-log-partitions ' || schema));
  while week <= now() + make_interval(weeks => weeks_ahead) loop
    partition := format('%I.%I', schema, 'request_log_' || to_char(week, 'YYYYMMDD'));
    -- The first partition ends within a week; what it covers needs no other.
    if to_regclass(partition) is null and not exists (
      select
      from request_log_partitions()
      where upper_bound > uuid_v7_floor(week)
    ) then
      execute format(
        'create table %s partition of %I.request_log for values from (%L) to (%L)'
        ' with (autovacuum_vacuum_insert_scale_factor = 0.05)',
        partition,
        schema,
        uuid_v7_floor(week),
        uuid_v7_floor(week + interval '1 week')
      );
      execute format('revoke all on %s from %I', partition, 'pixmesh_' || schema);
    end if;
    week := week + interval '1 week';
  end loop;
end
$$;

-- The partitions with the id at which each ends.
create function request_log_partitions() returns table (partition regclass, upper_bound uuid)
  language sql stable set search_path from current
as $$
  select
    pg_class.oid::regclass,
    substring(pg_get_expr(relpartbound, pg_class.oid) from 'TO \(''([0-9a-f-]+)''\)')::uuid
  from pg_inherits
  join pg_class on pg_class.oid = inhrelid
  where inhparent = 'request_log'::regclass
$$;

-- Drops each partition whose youngest row is older than `keep_days`; answers how many. The bound is enforced here,
-- so that the service's own role cannot wipe the log of last week.
create function drop_old_request_log_partitions(keep_days integer) returns integer
  language plpgsql security definer set timezone to 'UTC' set search_path from current
as $$
declare
  old record;
  dropped integer := 0;
begin
  if keep_days is null or keep_days < 7 then
    raise exception 'the request log is kept for 7 days at least' using errcode = 'check_violation';
  end if;
  for old in
    select partition
    from request_log_partitions()
    where upper_bound <= uuid_v7_floor(now() - make_interval(days => keep_days))
  loop
    execute format('drop table %s', old.partition);
    dropped := dropped + 1;
  end loop;
  return dropped;
end
$$;

-- Everything so far, and whatever comes until the week ends, is the first partition.
do $$
begin
  set local timezone to 'UTC';
  execute format(
    'alter table request_log attach partition request_log_first for values from (minvalue) to (%L)',
    uuid_v7_floor(date_trunc('week', now()) + interval '1 week')
  );
  perform ensure_request_log_partitions(4);
  execute format('revoke update, delete, truncate on request_log from %I', 'pixmesh_' || current_schema);
  execute format('revoke all on request_log_first from %I', 'pixmesh_' || current_schema);
  execute format(
    'revoke execute on function ensure_request_log_partitions(integer), request_log_partitions(), '
    'drop_old_request_log_partitions(integer) from public'
  );
  execute format(
    'grant execute on function ensure_request_log_partitions(integer), drop_old_request_log_partitions(integer) '
    'to %I',
    'pixmesh_' || current_schema
  );
end
$$;
