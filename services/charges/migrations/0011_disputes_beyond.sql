-- When the list of infractions was last read as far back as any of them may change (decision 218): one that is listed long
-- after its opening, or arrives decided, is found by this alone.
alter table dispute_list add column whole_at timestamptz(3);

-- Infractions of Pix in suspense. No charge is disputed by them, so that they are no disputes of ours; but as long as one may
-- take the money back, nobody is given it.
create table suspended_disputes (
  infraction_id text primary key,
  end_to_end_id text not null,
  amount bigint not null,
  status text not null,
  opened_at timestamptz(3) not null,
  noted_at timestamptz(3) not null default now()
);

create index suspended_disputes_pix on suspended_disputes (end_to_end_id);
