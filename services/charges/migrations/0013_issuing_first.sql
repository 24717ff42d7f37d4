-- Charges whose issuing is unknown are looked at before those that only might be paid.
create index charges_issuing_check_at on charges (check_at) where status = 'processing' and check_at is not null;
