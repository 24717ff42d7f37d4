-- Each command wrote this index, and a turn of resends, each 10 s at most, read it. The table holds what is unanswered alone: a
-- turn reads it as a whole, in this version and in the one before. The lock is short, as no table is read.
-- squawk-ignore require-concurrent-index-deletion
drop index if exists unanswered_commands_sent;
