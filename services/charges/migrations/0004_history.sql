-- What refunds gave back to the payer so far, in cents (decision 77).
alter table charges add column refunded_amount bigint not null default 0;
alter table charges add constraint charges_refunded_amount check (refunded_amount between 0 and amount);

-- Every change of a charge's state, one row per version, without gaps; nothing of it ever changes.
create table charge_history (
  charge_id uuid not null,
  version integer not null,
  at timestamptz(3) not null default now(),
  -- Null for the first row.
  from_status text,
  to_status text not null,
  -- What happened, in the words of the service (`charges/transitions.ts`), and the id or text that explains it.
  cause text not null,
  detail text,
  primary key (charge_id, version)
);

-- What happened at the acquirer and has no place in the table of transitions: ignored, and kept to be looked at
-- (decision 80). Each happening once, however often it is read back.
create table ignored_happenings (
  charge_id uuid not null,
  happening text not null,
  -- The id of the Pix, the return or the dispute with its state there.
  detail text not null,
  status text not null,
  at timestamptz(3) not null default now(),
  primary key (charge_id, happening, detail)
);

-- Charges from before this table begin where they stand.
insert into charge_history (charge_id, version, to_status, cause)
select id, version, status, 'carried_over' from charges;

revoke update, delete, truncate on charge_history, ignored_happenings from pixmesh_charges;
