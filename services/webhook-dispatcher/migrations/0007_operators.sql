-- The delivery log asks by whose deliveries they are, by event and by what was not delivered, newest first. With the
-- event before the account, one index serves an account, an account's event and an endpoint's event: what names no
-- event walks along each of the few events. Keys ascend, and who they are asked for comes right before the id: so a
-- range is one comparison of two columns, and no plan can prefer to walk along the ids.
create index deliveries_account on deliveries (event, account_id, id);
create index deliveries_event on deliveries (event, id);
-- Rows that did not arrive are few, and so are those that these hold.
create index deliveries_account_unsent on deliveries (status, account_id, id)
  where status in ('failed', 'skipped', 'canceled');
create index deliveries_endpoint_unsent on deliveries (status, endpoint_id, id)
  where endpoint_id is not null and status in ('failed', 'skipped', 'canceled');

alter table recoveries
  -- Of what the request meant: its repetition is told from another request under the same key.
  add column fingerprint bytea not null,
  -- Up to when the rate is used up.
  add column paced_at timestamptz(3) not null default now();
