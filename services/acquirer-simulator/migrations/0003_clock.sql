-- How far the provider's clock is from the real one. One row, always.
create table clock (
  only_row boolean primary key default true,
  offset_seconds bigint not null default 0,
  constraint clock_only_row check (only_row)
);

insert into clock default values;

-- The provider's time. Whatever a client of the provider can see is dated by it; attempts at callbacks are not.
create function now_() returns timestamptz
language sql stable
begin atomic
  select now() + offset_seconds * interval '1 second'
  from clock;
end;

alter table charges alter column created_at set default now_();
alter table received_pix alter column recorded_at set default now_();
alter table webhooks alter column created_at set default now_();
alter table journal alter column at set default now_();
alter table sends alter column requested_at set default now_();
alter table send_returns alter column returned_at set default now_();

revoke insert, delete, truncate on clock from pixmesh_acquirer_simulator;
