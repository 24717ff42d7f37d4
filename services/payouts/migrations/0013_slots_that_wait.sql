-- With `SEND_WAIT_MS` a slot whose call has ended is leased on without a token, for the payout of that call: until what became
-- of it is known, or the lease ends (ADR 0010). Means nothing beside a token: the version before leases slots without writing it.
alter table send_slots add column waits_for uuid;
