-- The account whose books show money that is not there, where a difference says so: its payouts are stopped (ADR 0031).
alter table reconciliation_breaks add column account_id uuid;
