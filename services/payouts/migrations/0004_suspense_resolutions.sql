-- What operators decided of items in suspense that this service booked (decision 141): each is accepted once, for ever.
create table suspense_resolutions (
  id uuid primary key,
  -- The item: the id of the command that booked it.
  item_id uuid not null,
  payout_id uuid not null,
  account_id uuid not null,
  amount bigint not null,
  requested_by uuid not null,
  created_at timestamptz(3) not null default now(),
  -- When the ledger had booked it; null until then.
  completed_at timestamptz(3),
  constraint suspense_resolutions_amount check (amount between 1 and 999999999999)
);

create unique index suspense_resolutions_item on suspense_resolutions (item_id);

do $$
begin
  execute format('revoke delete, truncate on suspense_resolutions from %I', 'pixmesh_' || current_schema);
end
$$;
