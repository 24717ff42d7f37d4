-- A Pix in suspense may go back in parts: each is a return of its own, and its item is resolved for what is left.
alter table pix_returns drop constraint pix_returns_disposition;
alter table pix_returns add constraint pix_returns_disposition check (
  disposition in ('refund', 'returned', 'med', 'suspense', 'suspense_part', 'unbooked')
  and (disposition = 'refund') = (refund_id is not null)
);

-- Returns of items are ordered as refunds are: the same columns mean the same.
alter table suspense_resolutions add column first_put_at timestamptz(3);
alter table suspense_resolutions add column return_id text;
-- The command that ends the item, once it is written: each return of a part has its own. Null in older rows, whose
-- command is the one that all ends of an item shared.
alter table suspense_resolutions add column command_id uuid;

-- How the ledger says that the hold of an ended refund had ended, where that is not as the refund did. An operator is
-- told; few, and looked at again by every run of reconciliation.
alter table refunds add column hold_contradiction text;
alter table refunds add constraint refunds_hold_contradiction check (
  hold_contradiction is null
  or (status = 'completed' and hold_contradiction in ('released', 'voided'))
  or (status = 'failed' and hold_contradiction = 'settled')
);
create index refunds_contradicted on refunds (id) where hold_contradiction is not null;
