-- Who reads the queue batch by batch while a part of it waits has to know what was committed after the first batch: that
-- may follow an event which was committed behind the reader's back, into a place that has been read.
alter table outbox add column xact xid8 not null default pg_current_xact_id();
