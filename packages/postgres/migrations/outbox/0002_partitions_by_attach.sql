-- A partition that is created in place locks its parent against every reader and writer, and waits for the longest
-- transaction that reads it, with everything behind it. It is made apart and attached, which holds up neither. What is
-- not possible within a second is tried again later: partitions stand months ahead.
create or replace function ensure_event_partitions(months_ahead integer) returns void
  language plpgsql security definer set timezone to 'UTC' set lock_timeout to '1s' set search_path from current
as $$
declare
  schema constant text := current_schema;
  month timestamptz := date_trunc('month', now()) - interval '1 month';
  partition text;
begin
  perform pg_advisory_xact_lock(hashtext('event-partitions ' || schema));
  while month <= now() + make_interval(months => months_ahead) loop
    partition := format('%I.%I', schema, 'events_' || to_char(month, 'YYYYMM'));
    if to_regclass(partition) is null then
      execute format(
        'create table %s (like %I.events including defaults including constraints including storage)',
        partition,
        schema
      );
      -- Rights on the parent are what counts; a partition by its own name would be a way around them.
      execute format('revoke all on %s from %I', partition, 'pixmesh_' || schema);
      execute format(
        'alter table %I.events attach partition %s for values from (%L) to (%L)',
        schema,
        partition,
        uuid_v7_floor(month),
        uuid_v7_floor(month + interval '1 month')
      );
    end if;
    month := month + interval '1 month';
  end loop;
end
$$;
