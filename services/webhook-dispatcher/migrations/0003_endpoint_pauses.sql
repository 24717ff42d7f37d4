-- Since when an endpoint is paused; null while it is active. What happened before is not missed, it waits. Null beside
-- a paused one is a pause from before this column: it counts for every event.
alter table endpoints
  add column paused_at timestamptz(3),
  add constraint endpoints_paused check (paused_at is null or not active);

-- What waits for an endpoint and follows it, in the order of its schedule: ranges of it wait, end or come forward with
-- the endpoint. What stands for the URL of its resource too does none of that (decision 179).
drop index deliveries_endpoint_pending;
create index deliveries_endpoint_pending on deliveries (endpoint_id, due_at, id)
  where status = 'pending' and endpoint_id is not null and not for_resource_url;
