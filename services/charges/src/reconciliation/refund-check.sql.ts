import { LIST_SKEW_MS } from '@pixmesh/reconciliation/list-pages';
import { NIL_ID, toAcquirerId } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import type { RefundRow } from '#refunds/refund-row.ts';

/** A refund as it is compared with the acquirer's return, its hold and what the charge counts. */
export type ComparedRefund = {
  id: string;
  returnId: string;
  holdId: string;
  endToEndId: string;
  status: RefundRow['status'];
  amount: bigint;
  /** When it ended here; null while it is under way. */
  endedAt: Date | null;
  /** Whether an order of it may stand at the acquirer. */
  wasSent: boolean;
};

/** More than an operator can work through; the rest shows as these are put right. */
const CONTRADICTED_MAX = 1_000;

const COLUMNS = sql`
  id, hold_id, end_to_end_id, status, amount, ended_at, first_put_at is not null as was_sent`;

/** A page of the refunds that the acquirer may still show (decision 218), by id. */
export async function listComparedRefunds(
  db: Queryable,
  page: { after: string | null; limit: number },
): Promise<ComparedRefund[]> {
  const rows = await db.query<ComparedRecord>(
    named(
      'list_compared_refunds',
      sql`
        select ${COLUMNS} from refunds
        where id > ${page.after ?? NIL_ID}::uuid
          and status <> 'intent' and created_at >= now() - interval '120 days'
        order by id
        limit ${page.limit}`,
    ),
  );
  return rows.map(toCompared);
}

/** Refunds by their own ids or their charges'. */
export async function findComparedRefunds(
  db: Queryable,
  ids: readonly string[],
): Promise<ComparedRefund[]> {
  if (ids.length === 0) return [];
  const rows = await db.query<ComparedRecord>(
    named(
      'find_compared_refunds',
      sql`
        select ${COLUMNS} from refunds
        where (id = any(${ids}::uuid[]) or charge_id = any(${ids}::uuid[])) and status <> 'intent'`,
    ),
  );
  return rows.map(toCompared);
}

/** Refunds that ended since an instant. Reads `refunds_ended_at`. */
export async function listEndedSince(db: Queryable, since: Date): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    named('find_refunds_ended', sql`select id from refunds where ended_at >= ${skewed(since)}`),
  );
  return rows.map(({ id }) => id);
}

/** Refunds under way and those of the named holds, by hold id. Reads `refunds_open` and `refunds_hold`. */
export async function findRefundsByHold(
  db: Queryable,
  holdIds: readonly string[],
): Promise<Map<string, ComparedRefund>> {
  const rows = await db.query<ComparedRecord>(
    named(
      'find_refunds_by_hold',
      sql`
        select ${COLUMNS} from refunds where status = 'processing'
        union
        select ${COLUMNS} from refunds where hold_id = any(${holdIds}::uuid[])`,
    ),
  );
  return new Map(rows.map((row) => [row.hold_id, toCompared(row)]));
}

/** A refund whose hold ended otherwise than it did, by the ledger's event. */
export type ContradictedRefund = Pick<ComparedRefund, 'id' | 'status' | 'amount' | 'endedAt'> & {
  holdState: string;
};

/** All of them, few as they are: each stays until an operator has acted. Reads `refunds_contradicted`. */
export async function listContradicted(db: Queryable): Promise<ContradictedRefund[]> {
  return await db.query<ContradictedRefund>(
    named(
      'list_contradicted_refunds',
      sql`
        select id, status, amount, ended_at as "endedAt", hold_contradiction as "holdState"
        from refunds
        where hold_contradiction is not null
        order by id
        limit ${CONTRADICTED_MAX}`,
    ),
  );
}

/** What a charge counts as refunded, and what recorded returns add up to. */
export type CountedRefunds = { id: string; counted: bigint; recorded: bigint; seenAt: Date };

/** A page of the charges of which something ever went back, by id. Reads `pix_returns_charge`. */
export async function listReturnedCharges(
  db: Queryable,
  page: { after: string | null; limit: number },
): Promise<string[]> {
  const rows = await db.query<{ charge_id: string }>(
    named(
      'list_returned_charges',
      sql`
        select distinct charge_id from pix_returns
        where charge_id is not null
          and charge_id > ${page.after ?? NIL_ID}::uuid
        order by charge_id
        limit ${page.limit}`,
    ),
  );
  return rows.map(({ charge_id: id }) => id);
}

/** Those of which something went back since an instant. Reads `pix_returns_seen_at`. */
export async function findReturnedSince(db: Queryable, since: Date): Promise<string[]> {
  const rows = await db.query<{ charge_id: string }>(
    named(
      'find_returned_charges',
      sql`
        select distinct charge_id from pix_returns
        where charge_id is not null and seen_at >= ${skewed(since)}`,
    ),
  );
  return rows.map(({ charge_id: id }) => id);
}

/**
 * Those of some charges whose count is not the sum of their refunds and plain returns. Returns under the MED are not
 * counted there (decision 77).
 */
export async function findMiscounted(
  db: Queryable,
  ids: readonly string[],
): Promise<CountedRefunds[]> {
  const rows = await db.query<{ id: string; counted: bigint; recorded: bigint; seen_at: Date }>(
    named(
      'find_miscounted_refunds',
      sql`
        select charges.id, refunded_amount as counted, coalesce(sum(amount_back), 0)::bigint as recorded,
          max(coalesce(seen_at, charges.created_at)) as seen_at
        from charges
        left join lateral (
          select pix_returns.amount as amount_back, pix_returns.seen_at
          from pix_returns
          where pix_returns.end_to_end_id = charges.end_to_end_id and disposition in ('refund', 'returned')
        ) as back on true
        where charges.id = any(${ids}::uuid[])
        group by charges.id
        having refunded_amount <> coalesce(sum(amount_back), 0)`,
    ),
  );
  return rows.map(({ seen_at: seenAt, ...row }) => ({ ...row, seenAt }));
}

function skewed(since: Date): Date {
  return new Date(since.getTime() - LIST_SKEW_MS);
}

type ComparedRecord = {
  id: string;
  hold_id: string;
  end_to_end_id: string;
  status: RefundRow['status'];
  amount: bigint;
  ended_at: Date | null;
  was_sent: boolean;
};

function toCompared(row: ComparedRecord): ComparedRefund {
  return {
    id: row.id,
    returnId: toAcquirerId(row.id),
    holdId: row.hold_id,
    endToEndId: row.end_to_end_id,
    status: row.status,
    amount: row.amount,
    endedAt: row.ended_at,
    wasSent: row.was_sent,
  };
}
