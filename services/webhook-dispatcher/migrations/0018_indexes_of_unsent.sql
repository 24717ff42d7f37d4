-- Lists of what was not sent. Large installations build them concurrently before, on each partition.
create index if not exists deliveries_not_sent on deliveries (unsent, id desc) where unsent is not null;
create index if not exists deliveries_not_sent_by_account on deliveries (unsent, account_id, id) where unsent is not null;
create index if not exists deliveries_not_sent_by_endpoint on deliveries (unsent, endpoint_id, id)
  where unsent is not null and endpoint_id is not null;

-- The version before still reads these lists while it runs: correctly, by other indexes, and slower.
drop index if exists deliveries_unsent;
drop index if exists deliveries_account_unsent;
drop index if exists deliveries_endpoint_unsent;
