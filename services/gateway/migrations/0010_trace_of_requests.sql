-- The trace behind a request, as its spans and log lines name it. Null where nothing was traced, and before this.
alter table request_log add column trace_id text;
