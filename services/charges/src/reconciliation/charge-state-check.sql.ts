import { type ChargeId, NIL_ID } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

import type { StoredStatus } from '#charge/charge-row.ts';

/** A charge as it is compared with the acquirer's. */
export type ComparedCharge = {
  id: ChargeId;
  status: StoredStatus;
  acceptedE2e: string | null;
  amount: bigint;
  changedAt: Date | null;
};

/** The acquirer is asked for what it may still show (decision 218). */
const HORIZON = sql`created_at >= now() - interval '120 days'`;

const COLUMNS = sql`
  id, status, accepted_e2e, amount,
  (select max(at) from charge_history where charge_id = charges.id) as changed_at`;

/** One page by id. */
export async function listComparedCharges(
  db: Queryable,
  page: { after: string | null; limit: number },
): Promise<ComparedCharge[]> {
  const rows = await db.query<ComparedRecord>(
    named(
      'list_compared_charges',
      sql`
        select ${COLUMNS} from charges
        where id > ${page.after ?? NIL_ID}::uuid and ${HORIZON}
        order by id
        limit ${page.limit}`,
    ),
  );
  return rows.map(toComparedCharge);
}

export async function findComparedCharges(
  db: Queryable,
  ids: readonly string[],
): Promise<ComparedCharge[]> {
  if (ids.length === 0) return [];
  const rows = await db.query<ComparedRecord>(
    named(
      'find_compared_charges',
      sql`select ${COLUMNS} from charges where id = any(${ids}::uuid[])`,
    ),
  );
  return rows.map(toComparedCharge);
}

/** Ids of charges that are being issued, latest next check first. Reads and sorts all of `charges_issuing`. */
export async function findProcessingCharges(db: Queryable, limit: number): Promise<ChargeId[]> {
  const rows = await db.query<{ id: ChargeId }>(
    named(
      'find_processing_charges',
      sql`
        select id from charges
        where status = 'processing' and check_at is not null
        order by check_at desc
        limit ${limit}`,
    ),
  );
  return rows.map(({ id }) => id);
}

type ComparedRecord = {
  id: ChargeId;
  status: StoredStatus;
  accepted_e2e: string | null;
  amount: bigint;
  changed_at: Date | null;
};

function toComparedCharge(row: ComparedRecord): ComparedCharge {
  return {
    id: row.id,
    status: row.status,
    acceptedE2e: row.accepted_e2e,
    amount: row.amount,
    changedAt: row.changed_at,
  };
}
