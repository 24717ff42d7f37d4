-- What a fault was drawn for goes out alone, so that one fault disturbs one Pix; the rest is sent together.
alter table callbacks add column alone boolean not null default false;

-- The newest of each kind, as the page shows them.
create index charges_number on charges (number);
create index received_pix_recorded_at on received_pix (recorded_at, end_to_end_id);
