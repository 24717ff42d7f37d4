import type { ReceivedPix } from '@pixmesh/acquirer/acquirer';
import type { AccountId, ChargeId } from '@pixmesh/kernel/ids';
import { type Cents, toCents } from '@pixmesh/kernel/money';
import type { OutboundEvent } from '@pixmesh/postgres/events';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';
import { appendEventsAndCommands } from '@pixmesh/postgres/unanswered-commands';
import { createWriteBatcher, type WriteBatcher } from '@pixmesh/postgres/write-batcher';

import type { Disposition } from './decide-received.ts';

/** A received Pix as recorded; one without an owner has neither charge nor account. */
export type RecordedReceived = {
  endToEndId: string;
  chargeId: ChargeId | null;
  accountId: AccountId | null;
  amount: Cents;
  disposition: Disposition['kind'];
};

/**
 * Inserts a Pix without an owner once per end-to-end id, together with its ledger commands. False when it is recorded
 * already, with or without an owner: nothing is written then.
 */
export async function insertUnowned(
  db: Queryable,
  pix: ReceivedPix,
  commands: readonly OutboundEvent[],
): Promise<boolean> {
  const rows = await db.query(
    named(
      'record_unowned_pix',
      sql`
        with recorded as (
          insert into received_pix (end_to_end_id, amount, paid_at, disposition, reason)
          values (${pix.endToEndId}, ${pix.amountCents}, ${pix.paidAt}, 'suspense', 'unowned')
          on conflict (end_to_end_id) do nothing
          returning end_to_end_id
        ),
        ${appendEventsAndCommands(sql`select from recorded`, commands)}
        select end_to_end_id from recorded`,
    ),
  );
  return rows.length === 1;
}

/** Reads which of some Pix are recorded already. Reads that come together share a statement. */
export type RecordedPixReads = WriteBatcher<readonly string[], RecordedReceived[]>;

export function createRecordedPix(db: Queryable): RecordedPixReads {
  return createWriteBatcher(async (reads) => {
    const recorded = await findRecorded(db, reads.flat());
    return reads.map((ids) => recorded.filter(({ endToEndId }) => ids.includes(endToEndId)));
  });
}

/** Those that are recorded already, out of the given ones. Primary key reads. */
export async function findRecorded(
  db: Queryable,
  endToEndIds: readonly string[],
): Promise<RecordedReceived[]> {
  if (endToEndIds.length === 0) return [];
  const rows = await db.query<RecordedRow>(
    named(
      'find_received_pix',
      sql`
        select end_to_end_id, charge_id, account_id, amount, disposition
        from received_pix
        where end_to_end_id = any(${endToEndIds}::text[])`,
    ),
  );
  return rows.map((row) => ({
    endToEndId: row.end_to_end_id,
    chargeId: row.charge_id,
    accountId: row.account_id,
    amount: toCents(row.amount),
    disposition: row.disposition,
  }));
}

type RecordedRow = {
  end_to_end_id: string;
  charge_id: ChargeId | null;
  account_id: AccountId | null;
  amount: bigint;
  disposition: Disposition['kind'];
};
