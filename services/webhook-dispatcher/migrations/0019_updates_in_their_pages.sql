-- The end of a delivery is one update of its row. Pages that were filled to the end had no room for it: the row moved, and
-- every index got another entry. With a part of each page left free the row stays in its page (ADR 0046). Rows that are
-- there already stay as they are; weeks that are over get no more of them. Events and attempts are never updated.
do $$
declare
  parent text;
  week record;
begin
  foreach parent in array array['events', 'deliveries', 'attempts'] loop
    for week in
      select partition
      from history_partitions(format('%I.%I', current_schema, parent)::regclass)
      where upper_bound > uuid_v7_floor(now())
    loop
      execute format(
        'alter table %s set (fillfactor = %s)', week.partition, case parent when 'deliveries' then 60 else 100 end
      );
    end loop;
  end loop;
end
$$;

create or replace function ensure_history_partitions(weeks_ahead integer) returns void
  language plpgsql security definer set timezone to 'UTC' set lock_timeout to '1s' set search_path from current
as $$
declare
  schema constant text := current_schema;
  week timestamptz;
  parent text;
  partition text;
  lower_bound uuid;
  upper_bound uuid;
begin
  perform pg_advisory_xact_lock(hashtext('history-partitions ' || schema));
  foreach parent in array array['events', 'deliveries', 'attempts'] loop
    week := date_trunc('week', now());
    -- Each begins where the last one ends, also after weeks in which nobody called this.
    select covered.upper_bound into lower_bound
    from history_partitions(format('%I.%I', schema, parent)::regclass) as covered
    order by covered.upper_bound desc
    limit 1;
    while week <= now() + make_interval(weeks => weeks_ahead) loop
      upper_bound := uuid_v7_floor(week + interval '1 week');
      if lower_bound is null or lower_bound < upper_bound then
        partition := format('%I.%I', schema, parent || '_' || to_char(week, 'YYYYMMDD'));
        execute format(
          'create table %s (like %I.%I including defaults including constraints including storage)'
          ' with (fillfactor = %s, autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0)',
          partition,
          schema,
          parent,
          -- Each delivery is updated once, the others never.
          case parent when 'deliveries' then 60 else 100 end
        );
        -- Rights on the parent are what counts; a partition by its own name would be a way around them.
        execute format('revoke all on %s from %I', partition, 'pixmesh_' || schema);
        execute format(
          'alter table %I.%I attach partition %s for values from (%L) to (%L)',
          schema,
          parent,
          partition,
          coalesce(lower_bound, uuid_v7_floor(week)),
          upper_bound
        );
        lower_bound := upper_bound;
      end if;
      week := week + interval '1 week';
    end loop;
  end loop;
end
$$;
