-- A letter that an operator has given up stays readable, with who did it and why. The indexes on what is not replayed go
-- on holding it: there are few.
alter table dead_letters
  add column dismissed_at timestamptz(3),
  add column dismissed_by uuid,
  add column dismissed_reason text;
