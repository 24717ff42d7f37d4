-- Requested checks are taken in turn by account: read by the statement that leases them (`packages/postgres/src/lease-in-turn.ts`). Large
-- installations build it concurrently before. Routine checks go on reading `charges_check_at`.
create index if not exists charges_requested on charges (account_id) where check_at = '-infinity';
