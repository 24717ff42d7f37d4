-- What the acquirer answered last, for whoever asks why a charge stands where it stands. `last_check_answer` is `found`,
-- `not_found`, or a word on why there was no answer; `last_put_error` such a word of the last call that should issue it.
-- Both are of the time since the charge last changed.
alter table charges
  add column last_check_at timestamptz(3),
  add column last_check_answer text,
  add column last_put_error text;
