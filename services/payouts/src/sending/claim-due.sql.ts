import { type AccountId, newId } from '@pixmesh/kernel/ids';
import { accountsInTurn } from '@pixmesh/postgres/accounts-in-turn';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import { nextCheckAt } from '#payouts/check-time.ts';
import type { PayoutRow } from '#payouts/payout-row.ts';
import { PAYOUT_COLUMNS, type PayoutRecord, toPayoutRow } from '#payouts/payouts.sql.ts';
import { IS_ALL_STOPPED, STOPPED_ACCOUNTS } from '#stops/in-force.sql.ts';

import type { LeasedSlot } from './send-slots.sql.ts';

/** A payout that this process may send now, and the slot that it does so in. */
export type Claim = {
  payout: PayoutRow;
  /** When the call before this one was counted. */
  formerCallAt: Date | null;
} & LeasedSlot;

type ClaimOptions = {
  limit: number;
  slots: number;
  /** By when a call has ended, so that a check finds what became of it. */
  leaseMs: number;
  /** For how long the slots are leased, where that is longer. */
  slotLeaseMs?: number;
  /** Slots that the caller holds and no call has: they are free to it. */
  held?: readonly LeasedSlot[];
  /** The account served last: the turn begins behind it. */
  after: AccountId;
  /** Of these accounts none. */
  except?: readonly string[];
};

/**
 * Takes free slots and a due payout for each: first one of every account in turn, beginning behind `after`, then
 * a second one of each, so that nobody waits behind another account's thousands. In the same commit the call is
 * counted as unanswered and a status check becomes due, so that a crash leaves nothing to be guessed.
 *
 * Payouts of a stopped account stay where they are (decision 262): a stop that was answered is in the snapshot of every
 * claim that begins later.
 *
 * Walks `payouts_send_at` from account to account; locks slots and payouts for this statement only and waits for
 * neither. `picked` asks for `send_at` again, because another sender may have taken the row meanwhile, and for one row
 * after the other: a plan that was made while hardly anything was due joined all that is due with all turns.
 */
export async function claimDue(db: Queryable, options: ClaimOptions): Promise<Claim[]> {
  const { leaseMs, slotLeaseMs = leaseMs } = options;
  const slotToken = newId();
  const rows = await db.query<ClaimRecord>(
    named(
      'payouts_claim_due',
      sql`
        with recursive ${freeSlots(options)},
        free as (
          select free_slot, row_number() over (order by free_slot) as seat from free_slots
        ),
        ${rankedDue(options)},
        picked as (
          select picked_id, lap, turn
          from (select due_id, lap, turn from ranked order by lap, turn) as turns
          cross join lateral (
            select id as picked_id
            from payouts
            where id = due_id and ${IS_DUE}
            limit 1
            for update skip locked
          ) as payout
          limit (select count(*) from free)
        ),
        seated as (
          select picked_id, row_number() over (order by lap, turn) as seat from picked
        ),
        taken as (
          update payouts
          set send_at = null,
              unanswered_puts = unanswered_puts + 1,
              first_put_at = coalesce(first_put_at, now()),
              last_put_at = now(),
              version = version + 1,
              ${nextCheckAt(leaseMs)}
          from seated
          join free using (seat)
          where id = picked_id
          returning ${PAYOUT_COLUMNS}, old.last_put_at as former_put_at, free_slot
        ),
        held as (
          update send_slots
          set lease_token = ${slotToken}::uuid,
              lease_until = now() + ${slotLeaseMs}::int * interval '1 ms',
              waits_for = null
          from taken
          where slot = taken.free_slot
        )
        select * from taken`,
    ),
  );
  return rows.map((row) => toClaim(row, slotToken));
}

/**
 * CTEs that end with `ranked (due_id, lap, turn)`: the oldest due payouts of as many accounts as there may be claims.
 * Stopped accounts and those of `except` have turns that take nothing: to pass over an account costs one step, to pass
 * over its payouts one for each.
 */
function rankedDue({ limit, after, except = [] }: ClaimOptions): Statement {
  const accountsMax = sql`(${limit + except.length}::int + cardinality(${STOPPED_ACCOUNTS}))`;
  return sql`
    ${accountsInTurn({ table: sql`payouts`, isWork: IS_DUE, after, limit: accountsMax })},
    served as (
      select turn, ring_account
      from ring
      where turn > 0
        and ring_account <> all (${except}::uuid[])
        and ring_account <> all (${STOPPED_ACCOUNTS})
      order by turn
      limit ${limit}::int
    ),
    ranked as (
      select due.due_id, due.lap, served.turn
      from served
      cross join lateral (
        select oldest.id as due_id, row_number() over (order by oldest.send_at, oldest.id) as lap
        from (
          select id, send_at
          from payouts
          where account_id = ring_account and ${IS_DUE}
          order by send_at
          limit ${limit}::int
        ) as oldest
      ) as due
    )`;
}

/**
 * The CTE `free_slots`: those that the caller holds are free for it, and one that no call has is free as soon as what
 * became of the payout that it waits for is known. That payout is looked up by primary key; `exists` instead was planned
 * as a hash of all payouts while the table was empty.
 */
function freeSlots({ limit, slots, held = [] }: ClaimOptions): Statement {
  return sql`
    free_slots as (
      select slot as free_slot
      from send_slots
      where slot <= ${slots}
        and (
          lease_until is null or lease_until <= now()
          or (slot, lease_token) in (
            select * from unnest(
              ${held.map((one) => one.slot)}::int[],
              ${held.map((one) => one.slotToken)}::uuid[]
            )
          )
          or (lease_token is null and (select ${IS_KNOWN} from payouts where id = waits_for))
        )
        and not ${IS_ALL_STOPPED}
      order by slot
      limit ${limit}
      for update skip locked
    )`;
}

/** Payouts that wait for a sender. */
const IS_DUE = sql`send_at <= now()`;

/** What became of the last call of a payout: the payout has ended, or is to be sent again. */
const IS_KNOWN = sql`(status <> 'processing' or send_at is not null)`;

type ClaimRecord = PayoutRecord & { former_put_at: Date | null; free_slot: number };

function toClaim(row: ClaimRecord, slotToken: string): Claim {
  return {
    payout: toPayoutRow(row),
    formerCallAt: row.former_put_at,
    slot: row.free_slot,
    slotToken,
  };
}
