-- The account's default expiry when the charge was created: what a body without `expires_in` meant, however often that
-- default has changed since. Null for charges from before.
alter table charges add column default_expires_in integer;
