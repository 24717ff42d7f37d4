-- Events of one resource in their order: read by `event_history`, and by reconciliation, which counts them and looks for the
-- last one. Commands, outcomes and callbacks have no number, are read by their ids alone, and do not enter it. The condition on
-- the topic adds no row: by it the version before, which does not ask for a number, reads this index too. Large installations
-- build it concurrently before, on each partition.
-- squawk-ignore require-concurrent-index-creation
create index if not exists events_numbered on events (topic, key, sequence)
  where sequence is not null or topic in ('charges.events.v1', 'payouts.events.v1');
