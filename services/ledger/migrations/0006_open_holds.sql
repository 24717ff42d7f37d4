-- Read by the list of open holds, which reconciliation compares with payouts and refunds. Many holds share one key, so
-- that a hold costs 7 bytes here, where its id would cost 32.
create index if not exists holds_open on holds (kind) where state = 'open';
