-- Each charge that was paid wrote this index twice. A Pix is accepted once by the key of `received_pix`, which also finds its charge.
-- The lock is short: an index is dropped, no table is read. Until it is replaced the version before scans for one filter of operators.
-- squawk-ignore require-concurrent-index-deletion
drop index if exists charges_accepted_e2e;
