-- Counts what was announced of an account's limits on `accounts.events.v1`.
alter table accounts add column limits_version integer not null default 0;
