-- Registered endpoints: where an application hears of its resources, beside the URL of each resource.
create table endpoints (
  id uuid primary key,
  account_id uuid not null,
  application_id uuid not null,
  url text not null,
  description text not null,
  events text[] not null,
  active boolean not null default true,
  sealed_secret text,
  created_at timestamptz(3) not null default now(),
  -- Kept for the history of deliveries; a deleted endpoint is shown and sent to no more.
  deleted_at timestamptz(3)
);

create index endpoints_application on endpoints (application_id, created_at desc, id desc) where deleted_at is null;
create index endpoints_account on endpoints (account_id) where deleted_at is null;

-- Null for the URL of a resource. `destination_id` stays the key of (event, destination): the endpoint's id or the
-- resource's.
alter table deliveries
  add column endpoint_id uuid,
  -- One delivery for both mechanisms: an endpoint without a secret then signs with the resource's (decision 179).
  add column for_resource_url boolean not null default false;

-- What a change of an endpoint concerns: its deliveries that are not over.
create index deliveries_endpoint_pending on deliveries (endpoint_id) where status = 'pending' and endpoint_id is not null;

do $$
begin
  execute format('revoke delete, truncate on endpoints from %I', 'pixmesh_' || current_schema);
end
$$;
