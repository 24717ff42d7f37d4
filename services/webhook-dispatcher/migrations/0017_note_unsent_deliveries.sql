-- Found by `deliveries_unsent`, which the next migration replaces.
update deliveries
set unsent = status
where status in ('failed', 'skipped', 'canceled')
  and unsent is null;
