-- A drop locks the whole log while it waits for those that read it, and every writer waits behind it. It gives way after
-- a tenth of a second and is tried again (ADR 0018).
alter function drop_old_request_log_partitions(integer) set lock_timeout to '100ms';
