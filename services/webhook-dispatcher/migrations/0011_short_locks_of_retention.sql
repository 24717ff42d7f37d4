-- A drop locks the histories and the queue while it waits for those that read them, and every sender waits behind it. It
-- gives way after a tenth of a second and is tried again (ADR 0018).
alter function drop_old_history_partitions(integer) set lock_timeout to '100ms';
