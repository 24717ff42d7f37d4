-- Since when events may have been skipped for an application that was active again already, because they were consumed
-- before the news of it; null once that is put right.
alter table applications add column missed_since timestamptz(3);

-- Which version of the sealing key a secret is sealed to (its third part), so that what is sealed to an old one is
-- found without reading the others. The version alone: all rows of one version are one short list each.
create index endpoints_sealing_version on endpoints (split_part(sealed_secret, '.', 3)) where sealed_secret is not null;
create index destinations_sealing_version on destinations (split_part(sealed_secret, '.', 3)) where sealed_secret is not null;
