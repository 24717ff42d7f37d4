-- A window of the list of received Pix that one run does not finish: its ends stay as they were when its first page was
-- read, and the next run goes on with its next page.
alter table received_list add column window_from timestamptz(3);
alter table received_list add column window_to timestamptz(3);
-- Everything paid before this instant has been compared once the window is done.
alter table received_list add column window_read_at timestamptz(3);
alter table received_list add column window_page integer not null default 0;
alter table received_list add constraint received_list_window check (
  (window_from is null) = (window_to is null) and (window_from is null) = (window_read_at is null)
  and (window_from is null) = (window_page = 0) and window_page >= 0
);

-- A defence that may have reached the acquirer and is not confirmed yet.
alter table disputes add column intended_defense text;
alter table disputes add column intended_at timestamptz(3);
alter table disputes add constraint disputes_intended check ((intended_defense is null) = (intended_at is null));

create index disputes_intended on disputes (infraction_id) where intended_defense is not null;

-- When the acquirer says that it carried out a return under the MED, which tells the dispute that it belongs to.
create table med_return_times (
  end_to_end_id text not null,
  return_id text not null,
  -- Null where the acquirer does not say.
  settled_at timestamptz(3),
  primary key (end_to_end_id, return_id)
);

-- Of those before, the time when they were seen is the nearest that is known.
insert into med_return_times (end_to_end_id, return_id, settled_at)
select end_to_end_id, return_id, seen_at from pix_returns where disposition = 'med';

revoke update, delete, truncate on med_return_times from pixmesh_charges;
