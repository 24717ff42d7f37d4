-- When the next status check is really due, where that is later than `check_at`, by which a row is found: `check_at` need not be
-- written again whenever a check is put off, so that such a change touches no index (ADR 0036). 'infinity': none is due.
-- Null: `check_at` says it. The version before goes by `check_at` alone and checks a little early.
alter table payouts add column due_at timestamptz(3);
