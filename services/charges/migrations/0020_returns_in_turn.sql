-- Orders of returns that are to be made, or checked at once, are taken in turn by account: read by the statement that leases
-- them (`packages/postgres/src/lease-in-turn.ts`). Items of the platform have the nil id. An order enters once. Large
-- installations build both concurrently before.
-- squawk-ignore require-concurrent-index-creation
create index if not exists refunds_requested on refunds (account_id) where check_at = '-infinity';
-- squawk-ignore require-concurrent-index-creation
create index if not exists suspense_resolutions_requested
  on suspense_resolutions (coalesce(owner_id, '00000000-0000-0000-0000-000000000000'))
  where check_at = '-infinity';
