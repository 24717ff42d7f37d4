import type { ChargeId, RefundId } from '@pixmesh/kernel/ids';
import { type Cents, toCents } from '@pixmesh/kernel/money';
import type { OutboundEvent } from '@pixmesh/postgres/events';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';
import { appendEventsAndCommands } from '@pixmesh/postgres/unanswered-commands';

/** `suspense`: a Pix in suspense as a whole; `suspense_part`: what left an item of it in parts. */
type ReturnDisposition = 'refund' | 'returned' | 'med' | 'suspense' | 'suspense_part' | 'unbooked';

/** A return that the acquirer has carried out, as recorded. */
export type RecordedReturn = {
  endToEndId: string;
  /** The acquirer's own id of it; for a refund of ours its id without hyphens. */
  returnId: string;
  /** Null where the Pix is of no charge. */
  chargeId: ChargeId | null;
  amount: Cents;
  nature: string | null;
  refundId: RefundId | null;
  disposition: ReturnDisposition;
};

/** Its record, with the time when it was seen first. */
export type SeenReturn = RecordedReturn & { seenAt: Date };

/**
 * Records a return once, for ever, and of one under the MED when the acquirer carried it out; false when it is recorded
 * already, and `commands` are not written then. Belongs into the transaction that moves the charge, or the refund,
 * because of it.
 */
export async function insertPixReturn(
  db: Queryable,
  returned: RecordedReturn & { settledAt?: Date | null },
  commands: readonly OutboundEvent[] = [],
): Promise<boolean> {
  const rows = await db.query(
    named(
      'insert_pix_return',
      sql`
        with recorded as (
          insert into pix_returns
            (end_to_end_id, return_id, charge_id, amount, nature, refund_id, disposition)
          values (
            ${returned.endToEndId}, ${returned.returnId}, ${returned.chargeId}, ${returned.amount},
            ${returned.nature}, ${returned.refundId}, ${returned.disposition}
          )
          on conflict (end_to_end_id, return_id) do nothing
          returning end_to_end_id, return_id, disposition
        ),
        timed as (
          insert into med_return_times (end_to_end_id, return_id, settled_at)
          select end_to_end_id, return_id, ${returned.settledAt ?? null}::timestamptz
          from recorded
          where disposition = 'med'
          on conflict (end_to_end_id, return_id) do nothing
        ),
        ${appendEventsAndCommands(sql`select from recorded`, commands)}
        select return_id from recorded`,
    ),
  );
  return rows.length === 1;
}

/** All that is recorded of some Pix. Primary key reads. */
export async function findReturns(
  db: Queryable,
  endToEndIds: readonly string[],
): Promise<SeenReturn[]> {
  if (endToEndIds.length === 0) return [];
  const rows = await db.query<ReturnRecord>(
    named(
      'find_pix_returns',
      sql`
        select end_to_end_id, return_id, charge_id, amount, nature, refund_id, disposition, seen_at
        from pix_returns
        where end_to_end_id = any(${endToEndIds}::text[])
        order by seen_at, return_id`,
    ),
  );
  return rows.map(toSeenReturn);
}

type ReturnRecord = {
  end_to_end_id: string;
  return_id: string;
  charge_id: ChargeId | null;
  amount: bigint;
  nature: string | null;
  refund_id: RefundId | null;
  disposition: ReturnDisposition;
  seen_at: Date;
};

function toSeenReturn(row: ReturnRecord): SeenReturn {
  return {
    endToEndId: row.end_to_end_id,
    returnId: row.return_id,
    chargeId: row.charge_id,
    amount: toCents(row.amount),
    nature: row.nature,
    refundId: row.refund_id,
    disposition: row.disposition,
    seenAt: row.seen_at,
  };
}
