-- How many differences that name an account a check has found, where they are more than are kept, and when they were
-- last more than ever: what is not kept can be seen by nothing else.
alter table reconciliation_runs
  add column account_breaks integer not null default 0,
  add column account_breaks_grew_at timestamptz(3);
