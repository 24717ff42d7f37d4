-- Refunds, disputes and returns of one Pix bound each other (decision 79), and suspense can be resolved (decision 141).

alter type journal_kind add value 'return_received_pix';
alter type journal_kind add value 'resolve_suspense';
alter type journal_kind add value 'credit_suspense';

alter type command_outcome add value 'unknown_pix' after 'insufficient_balance';
alter type command_outcome add value 'exceeds_received' after 'unknown_pix';

-- What has left of a received Pix, is about to leave or may have to: one row from its first refund, block or return on.
-- Most Pix never get one. Its owner's lock keeps it; a payout neither reads nor writes it.
create table pix_debits (
  account_id uuid not null,
  end_to_end_id text not null,
  -- As its credit says, which stands in `journals`.
  received bigint not null,
  -- Of open holds of refunds. With returns it may exceed the Pix: the acquirer lets one of them happen.
  refunding bigint not null,
  refunded bigint not null,
  -- Under the MED, or by somebody else's order.
  returned bigint not null,
  -- Its share of the owner's `blocked`.
  blocked bigint not null,
  -- What the dispute would have blocked beside it, had a refund not been on its way: it is blocked when that fails.
  shortfall bigint not null,
  -- The newest dispute that blocks, and the amount that it disputes.
  dispute_id uuid,
  disputed bigint not null,
  primary key (account_id, end_to_end_id),
  constraint pix_debits_floor check (
    refunding >= 0 and refunded >= 0 and returned >= 0 and blocked >= 0 and shortfall >= 0 and disputed >= 0
  ),
  -- The Pix is the most that can go back of it, and what is gone cannot be blocked.
  constraint pix_debits_received check (refunded + returned + blocked <= received),
  constraint pix_debits_disputed check ((dispute_id is null) = (disputed = 0))
);

-- The Pix of a refund's hold that was taken, and how much of it came out of the block. Beside `holds`, so that a
-- payout's hold stays as small as it is.
create table refund_holds (
  hold_id uuid primary key,
  account_id uuid not null,
  end_to_end_id text not null,
  from_block bigint not null,
  constraint refund_holds_from_block check (from_block >= 0)
);

do $$
begin
  execute format('revoke delete, truncate on pix_debits from %I', 'pixmesh_' || current_schema);
  execute format('revoke update, delete, truncate on refund_holds from %I', 'pixmesh_' || current_schema);
end
$$;
