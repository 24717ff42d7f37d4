-- Breaking: a process of the former version cannot record an ignored event between this migration and its own end. Its
-- status check fails then, changes nothing, and is made again by the next version.
alter table ignored_happenings rename to ignored_events;
alter table ignored_events rename column happening to event;
alter table ignored_events rename constraint ignored_happenings_pkey to ignored_events_pkey;
