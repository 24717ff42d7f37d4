-- What has come back of a payout, read before more of it is credited: no more comes back than has left. Few journals
-- are of these kinds. Large installations build it concurrently before.
create index if not exists journals_came_back on journals (resource_id)
  where kind in ('credit_payout_return', 'suspend_payout');
