-- A batch waits for the row of one owner for so long and no longer: all others of the batch wait with it
-- (`execute-batch.ts`). Batches take some 30 ms, so that several processes may stand in line for one owner.
alter function lock_batch(uuid[], uuid[], uuid[], uuid[]) set lock_timeout to '500ms';
