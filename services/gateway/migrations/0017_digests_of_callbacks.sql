-- Of the body as it came, where only its items are stored: the rest of it was much more than they are.
alter table callbacks add column sha256 bytea;
