-- The list of an account's charges (specification, GET /v1/charges). Charges of the checkout are in neither index.
create index charges_list on charges (account_id, created_at, id) where source = 'api';

-- Lengths of life, in seconds, by which open charges are told apart below. A round one and the second after it both
-- stand here, so that charges of a usual length of life have a class of their own.
create function lifetime_steps() returns integer[]
  language sql immutable parallel safe
return array[
  0, 60, 61, 120, 121, 180, 181, 300, 301, 600, 601, 900, 901, 1200, 1201, 1800, 1801, 2700, 2701, 3600, 3601,
  5400, 5401, 7200, 7201, 10800, 10801, 14400, 14401, 21600, 21601, 28800, 28801, 43200, 43201, 64800, 64801,
  86400, 86401, 129600, 129601, 172800, 172801, 259200, 259201, 345600, 345601, 432000, 432001, 518400, 518401,
  604800, 604801
];

-- Where a charge stands among those of its account when they are listed by status: under its status, and while it is
-- pending under `accepted` (it is being paid), or under `open` and the step that its life lasts at least.
--
-- Whether an open charge has expired changes without a write, so no index can know it. Within one class of lifetimes it
-- follows from the time of creation, but for the charges of one step: what was created longer ago than the next step
-- has expired, what was created more recently than this step has not. So both lists are ranges of the index.
create function list_class(
  source text, status text, accepted_e2e text, created_at timestamptz, expires_at timestamptz
) returns text
  language sql immutable parallel safe
return case
  when source <> 'api' then null
  when status <> 'pending' then status
  when accepted_e2e is not null then 'accepted'
  else 'open ' || (lifetime_steps())[
    width_bucket(greatest(extract(epoch from expires_at - created_at), 0), lifetime_steps()::numeric[])
  ]::text
end;

-- `expires_at` is no part of the order: it decides about charges of one step without a visit to the table. The absent
-- `source = 'api'` is deliberate: a query by class cannot be answered from `charges_list`, so none is planned to walk
-- through all charges for a rare one.
create index charges_list_by_class on charges (
  account_id, list_class(source, status, accepted_e2e, created_at, expires_at), created_at, id, expires_at
) where list_class(source, status, accepted_e2e, created_at, expires_at) is not null;
