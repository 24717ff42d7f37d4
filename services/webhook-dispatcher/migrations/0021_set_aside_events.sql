-- Events of accounts that make more deliveries than their share of a batch. They wait here for their turn, so that nobody else's
-- events wait behind them (ADR 0050). A row goes when its event is stored with its deliveries.
create table set_aside_events (
  account_id uuid not null,
  event_id uuid not null,
  application_id uuid,
  type text not null,
  resource_id uuid not null,
  source text not null,
  sequence integer not null,
  occurred_at timestamptz(3) not null,
  traceparent text,
  -- Whether it goes to the URL of its resource too, which is in `destinations`.
  has_own_url boolean not null,
  body_rest bytea not null,
  constraint set_aside_events_pkey primary key (account_id, event_id)
) with (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0
);

do $$
begin
  execute format('revoke truncate on set_aside_events from %I', 'pixmesh_' || current_schema);
end
$$;
