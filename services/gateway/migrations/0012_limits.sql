-- Limits that operators set (ADR 0026); null: none. They are read with the key, in the one statement of an authentication.
alter table accounts
  add column requests_per_minute_max integer,
  add column requests_in_flight_max integer,
  add column endpoints_max integer,
  add column deliveries_per_second_max integer,
  add constraint accounts_limits check (
    requests_per_minute_max >= 1 and requests_in_flight_max >= 1 and endpoints_max >= 1
    and deliveries_per_second_max >= 1
  );

alter table api_keys
  add column requests_per_minute_max integer,
  add column requests_in_flight_max integer,
  add constraint api_keys_limits check (requests_per_minute_max >= 1 and requests_in_flight_max >= 1);

-- Read by `GET /admin/accounts/{id}/limits`: few keys have limits, however many an account has.
create index api_keys_limited on api_keys (application_id, created_at desc, id desc)
  where (requests_per_minute_max is not null or requests_in_flight_max is not null) and revoked_at is null;
