-- A partition that is created in place locks its parent against every reader and writer, and waits for the longest
-- transaction that reads it, with everything behind it. It is made apart and attached, which holds up neither.
create or replace function ensure_request_log_partitions(weeks_ahead integer) returns void
  language plpgsql security definer set timezone to 'UTC' set lock_timeout to '1s' set search_path from current
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
        'create table %s (like %I.request_log including defaults including constraints including storage)'
        ' with (autovacuum_vacuum_insert_scale_factor = 0.05)',
        partition,
        schema
      );
      execute format('revoke all on %s from %I', partition, 'pixmesh_' || schema);
      execute format(
        'alter table %I.request_log attach partition %s for values from (%L) to (%L)',
        schema,
        partition,
        uuid_v7_floor(week),
        uuid_v7_floor(week + interval '1 week')
      );
    end if;
    week := week + interval '1 week';
  end loop;
end
$$;
