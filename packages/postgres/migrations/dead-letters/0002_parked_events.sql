-- Events of the outbox that cannot be published are parked here too. The relay asks for each event whether an earlier one
-- of its key is: mostly none is, and the index is empty.
create index dead_letters_outbox on dead_letters (topic, key) where consumer = 'outbox' and replayed_at is null;
