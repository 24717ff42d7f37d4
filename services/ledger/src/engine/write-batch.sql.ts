import { JOURNAL_KINDS } from '@pixmesh/contracts/internal/journal-kinds';
import { appendEvents } from '@pixmesh/postgres/events';
import type { Transaction } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import type { AccountKind } from '#accounts/chart-of-accounts.ts';
import type { BatchWrites } from '#decisions/batch-state.ts';
import type { PixDebits } from '#decisions/pix-debits.ts';

import { outcomeEvent } from './outcome-event.ts';
import { plainArray } from './plain-array.ts';

/**
 * Writes everything that a batch decided, in one statement: journals, entries, one new version of each owner's row,
 * holds, suspense items, releases, events and their place in the queue. The rows of the owners must be locked.
 *
 * Owners are written by `on conflict`, which goes through their key by itself: a joined update would be planned, and
 * planned badly while the tables are new. Numbers that are taken (a journal's within its owner, an
 * entry's) are refused, so a decision from stale balances cannot be written.
 */
export async function writeBatch(tx: Transaction, writes: BatchWrites): Promise<void> {
  if (writes.journals.length === 0 && writes.releasesDone.length === 0) return;
  await tx.query(statementOf(writes));
}

/** The shortest one that writes everything: holds by HTTP leave neither items nor events. */
function statementOf(writes: BatchWrites): Statement {
  if (writes.pix.size > 0 || writes.itemsChanged.size > 0) {
    return named(
      'ledger_write_debits',
      sql`with ${booksAndHolds(writes)}, ${itemsAndEvents(writes)}, ${pixAndItemChanges(writes)} select`,
    );
  }
  const { events, suspenseItems: items, releases: delayed, releasesDone } = writes;
  if (events.length + items.length + delayed.length + releasesDone.length > 0) {
    return named(
      'ledger_write_batch',
      sql`with ${booksAndHolds(writes)}, ${itemsAndEvents(writes)} select`,
    );
  }
  return named('ledger_write_holds', sql`with ${booksAndHolds(writes)} select`);
}

function booksAndHolds(writes: BatchWrites): Statement {
  return sql`${journals(writes)}, ${entries(writes)}, ${accounts(writes)},
    ${endedHolds(writes)}, ${takenHolds(writes)}`;
}

function itemsAndEvents(writes: BatchWrites): Statement {
  const events = writes.events.map((event) => outcomeEvent(event));
  return sql`
    ${suspenseItems(writes)}, ${releases(writes)},
    released as (
      delete from releases where command_id = any (${plainArray(writes.releasesDone)}::uuid[])
    ),
    ${appendEvents(sql`select`, events)}`;
}

/** Only where a Pix or an item changes: payouts do not carry these along. */
function pixAndItemChanges(writes: BatchWrites): Statement {
  return sql`${pixDebits(writes)}, ${refundHolds(writes)}, ${changedItems(writes)}`;
}

function journals({ journals: rows }: BatchWrites): Statement {
  return sql`
    booked as (
      insert into journals
        (command_id, account_id, version, created_at, kind, outcome, fingerprint, resource_id)
      select * from unnest(
        ${plainArray(rows.map((row) => row.command.commandId))}::uuid[],
        ${plainArray(rows.map((row) => row.command.accountId))}::uuid[],
        ${plainArray(rows.map((row) => row.version))}::bigint[],
        ${instants(rows.map((row) => row.createdAtMs))}::timestamptz[],
        ${plainArray(rows.map((row) => JOURNAL_KINDS[row.command.kind]))}::journal_kind[],
        ${plainArray(rows.map((row) => row.code))}::command_outcome[],
        ${plainArray(rows.map((row) => row.fingerprint))}::uuid[],
        ${plainArray(rows.map((row) => row.resourceId))}::uuid[]
      )
    )`;
}

function entries({ entries: rows }: BatchWrites): Statement {
  return sql`
    moved as (
      insert into entries (account_id, version, amount, balance_after, kind)
      select * from unnest(
        ${plainArray(rows.map((row) => row.accountId))}::uuid[],
        ${plainArray(rows.map((row) => row.version))}::bigint[],
        ${plainArray(rows.map((row) => row.amount))}::bigint[],
        ${plainArray(rows.map((row) => row.balanceAfter))}::bigint[],
        ${plainArray(rows.map((row) => row.kind))}::account_kind[]
      )
    )`;
}

/** Balances as they stand after the batch: the locked rows cannot have moved since they were read. */
function accounts({ accounts: rows }: BatchWrites): Statement {
  const states = [...rows.values()];
  const of = (kind: AccountKind): string =>
    plainArray(states.map(({ balances }) => balances[kind]));
  return sql`
    stands as (
      insert into accounts (
        account_id, available, pending, held, blocked, suspense, acquirer_clearing, fees,
        acquirer_tariffs, forced_debit, version, moved_at
      )
      select * from unnest(
        ${plainArray(rows.keys())}::uuid[],
        ${of('available')}::bigint[],
        ${of('pending')}::bigint[],
        ${of('held')}::bigint[],
        ${of('blocked')}::bigint[],
        ${of('suspense')}::bigint[],
        ${of('acquirer_clearing')}::bigint[],
        ${of('fees')}::bigint[],
        ${of('acquirer_tariffs')}::bigint[],
        ${plainArray(states.map((state) => state.forcedDebit))}::bigint[],
        ${plainArray(states.map((state) => state.version))}::bigint[],
        ${instants(states.map((state) => state.movedAtMs))}::timestamptz[]
      )
      on conflict (account_id) do update set
        available = excluded.available,
        pending = excluded.pending,
        held = excluded.held,
        blocked = excluded.blocked,
        suspense = excluded.suspense,
        acquirer_clearing = excluded.acquirer_clearing,
        fees = excluded.fees,
        acquirer_tariffs = excluded.acquirer_tariffs,
        forced_debit = excluded.forced_debit,
        version = excluded.version,
        moved_at = excluded.moved_at
    )`;
}

/**
 * New holds. One that another owner has taken meanwhile, which no lock of this one keeps out, refuses the statement.
 * Without `on conflict`, which inserts each row twice and costs a quarter of the rate.
 */
function takenHolds({ holds: changed, newHolds }: BatchWrites): Statement {
  const rows = [...changed.values()].filter(({ holdId }) => newHolds.has(holdId));
  return sql`
    reserved as (
      insert into holds (
        hold_id, account_id, resource_id, amount, fee, created_at, state, kind
      )
      select * from unnest(
        ${plainArray(rows.map((row) => row.holdId))}::uuid[],
        ${plainArray(rows.map((row) => row.accountId))}::uuid[],
        ${plainArray(rows.map((row) => row.resourceId))}::uuid[],
        ${plainArray(rows.map((row) => row.amount))}::bigint[],
        ${plainArray(rows.map((row) => row.fee))}::bigint[],
        ${instants(rows.map((row) => row.createdAt.getTime()))}::timestamptz[],
        ${plainArray(rows.map((row) => row.state))}::hold_state[],
        ${plainArray(rows.map((row) => row.kind))}::hold_kind[]
      )
      where (select count(*) from ended) >= 0
    )`;
}

/** Ends of holds that stood before the batch: first of all, since a resource that one leaves may be held anew. */
function endedHolds({ holds: changed, newHolds }: BatchWrites): Statement {
  const rows = [...changed.values()].filter(({ holdId }) => !newHolds.has(holdId));
  return sql`
    ended as (
      update holds set state = (
        ${plainArray(rows.map((row) => row.state))}::hold_state[]
      )[array_position(${plainArray(rows.map((row) => row.holdId))}::uuid[], hold_id)]
      where hold_id = any (${plainArray(rows.map((row) => row.holdId))}::uuid[])
      returning 1
    )`;
}

function suspenseItems({ suspenseItems: rows }: BatchWrites): Statement {
  return sql`
    suspended as (
      insert into suspense_items
        (id, account_id, end_to_end_id, charge_id, payout_id, amount, reason, created_at, resolved_at)
      select * from unnest(
        ${plainArray(rows.map((row) => row.commandId))}::uuid[],
        ${plainArray(rows.map((row) => row.accountId))}::uuid[],
        ${rows.map((row) => row.endToEndId)}::text[],
        ${plainArray(rows.map((row) => row.chargeId))}::uuid[],
        ${plainArray(rows.map((row) => row.payoutId))}::uuid[],
        ${plainArray(rows.map((row) => row.amount))}::bigint[],
        ${rows.map((row) => row.reason)}::text[],
        ${instants(rows.map((row) => row.createdAtMs))}::timestamptz[],
        ${instants(rows.map((row) => row.resolvedAtMs))}::timestamptz[]
      )
    )`;
}

/** As they stand after the batch, likewise: the owner's lock keeps them. */
function pixDebits({ pix }: BatchWrites): Statement {
  const rows = [...pix.values()];
  const of = (sum: (row: PixDebits) => bigint): string => plainArray(rows.map(sum));
  return sql`
    debited as (
      insert into pix_debits (
        account_id, end_to_end_id, received, refunding, refunded, returned, blocked, shortfall,
        dispute_id, disputed
      )
      select * from unnest(
        ${plainArray(rows.map((row) => row.accountId))}::uuid[],
        ${rows.map((row) => row.endToEndId)}::text[],
        ${of((row) => row.received)}::bigint[],
        ${of((row) => row.refunding)}::bigint[],
        ${of((row) => row.refunded)}::bigint[],
        ${of((row) => row.returned)}::bigint[],
        ${of((row) => row.blocked)}::bigint[],
        ${of((row) => row.shortfall)}::bigint[],
        ${plainArray(rows.map((row) => row.disputeId))}::uuid[],
        ${of((row) => row.disputed)}::bigint[]
      )
      on conflict (account_id, end_to_end_id) do update set
        refunding = excluded.refunding,
        refunded = excluded.refunded,
        returned = excluded.returned,
        blocked = excluded.blocked,
        shortfall = excluded.shortfall,
        dispute_id = excluded.dispute_id,
        disputed = excluded.disputed
    )`;
}

/** Of new holds only: nothing of these ever changes. */
function refundHolds({ holds: changed, newHolds }: BatchWrites): Statement {
  const rows = [...changed.values()].flatMap(({ holdId, accountId, refund }) =>
    refund && newHolds.has(holdId) ? [{ holdId, accountId, ...refund }] : [],
  );
  return sql`
    refunding as (
      insert into refund_holds (hold_id, account_id, end_to_end_id, from_block)
      select * from unnest(
        ${plainArray(rows.map((row) => row.holdId))}::uuid[],
        ${plainArray(rows.map((row) => row.accountId))}::uuid[],
        ${rows.map((row) => row.endToEndId)}::text[],
        ${plainArray(rows.map((row) => row.fromBlock))}::bigint[]
      )
    )`;
}

/** Items that stood before the batch; the locks of their owners keep them open until now. */
function changedItems({ itemsChanged }: BatchWrites): Statement {
  const rows = [...itemsChanged.values()];
  const ids = plainArray(itemsChanged.keys());
  return sql`
    resolved as (
      update suspense_items set
        amount = (
          ${plainArray(rows.map(({ amount }) => amount))}::bigint[]
        )[array_position(${ids}::uuid[], id)],
        resolved_at = (
          ${instants(rows.map(({ resolvedAtMs }) => resolvedAtMs))}::timestamptz[]
        )[array_position(${ids}::uuid[], id)]
      where id = any (${ids}::uuid[])
    )`;
}

function releases({ releases: rows }: BatchWrites): Statement {
  return sql`
    delayed as (
      insert into releases (command_id, account_id, amount, release_at)
      select * from unnest(
        ${plainArray(rows.map((row) => row.commandId))}::uuid[],
        ${plainArray(rows.map((row) => row.accountId))}::uuid[],
        ${plainArray(rows.map((row) => row.amount))}::bigint[],
        ${instants(rows.map((row) => row.releaseAt.getTime()))}::timestamptz[]
      )
    )`;
}

function instants(valuesMs: readonly (number | null)[]): string {
  return plainArray(valuesMs.map((ms) => (ms === null ? null : new Date(ms).toISOString())));
}
