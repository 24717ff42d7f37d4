import { NIL_ID } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';

/** A charge that a Pix pays or is credited to, with the credits recorded for it. */
export type ComparedCredit = {
  id: string;
  accountId: string;
  status: string;
  /** `paid`, or a state that only a paid charge reaches. */
  isPaid: boolean;
  amount: bigint;
  /** The Pix that pays it; of a charge that names none, one that is credited to it. */
  endToEndId: string | null;
  credits: number;
  creditedAt: Date | null;
};

/**
 * Charges that should have a credit, or have one. The `offset` keeps the last condition a read of `received_pix_charge`
 * per charge: without it the planner may read all credits into memory for each page.
 */
const CREDITED = sql`
  status in ('paid', 'refunded', 'infraction', 'charged_back')
  or accepted_e2e is not null
  or exists (
    select from received_pix where charge_id = charges.id and disposition = 'credit' offset 0
  )`;

const COLUMNS = sql`
  id, account_id, status,
  status in ('paid', 'refunded', 'infraction', 'charged_back') as is_paid,
  amount,
  coalesce(end_to_end_id, accepted_e2e, credited_e2e) as end_to_end_id,
  credits, credited_at`;

const CREDITS = sql`
  cross join lateral (
    select
      count(*)::int as credits,
      max(recorded_at) as credited_at,
      min(received_pix.end_to_end_id) as credited_e2e
    from received_pix
    where charge_id = charges.id and disposition = 'credit'
  ) as credit`;

/** One page by id. Reads `charges_pkey`, and `received_pix_charge` for each. */
export async function listCredits(
  db: Queryable,
  page: { after: string | null; limit: number },
): Promise<ComparedCredit[]> {
  const rows = await db.query<CreditRecord>(
    named(
      'list_credits',
      sql`
        select ${COLUMNS}
        from (
          select * from charges
          where (${CREDITED})
            and id > ${page.after ?? NIL_ID}::uuid
          order by id
          limit ${page.limit}
        ) as charges
        ${CREDITS}
        order by id`,
    ),
  );
  return rows.map(toComparedCredit);
}

/** Those of the charges that a Pix pays or is credited to. */
export async function findCredits(
  db: Queryable,
  ids: readonly string[],
): Promise<ComparedCredit[]> {
  if (ids.length === 0) return [];
  const rows = await db.query<CreditRecord>(
    named(
      'find_credits',
      sql`select ${COLUMNS} from charges ${CREDITS} where id = any(${ids}::uuid[]) and (${CREDITED})`,
    ),
  );
  return rows.map(toComparedCredit);
}

/** Charges that a Pix paid since an instant is credited to; some have no event of their own yet. */
export async function findChargesPaidSince(db: Queryable, since: Date): Promise<string[]> {
  const rows = await db.query<{ charge_id: string }>(
    named(
      'find_charges_paid_since',
      sql`
        select distinct charge_id
        from received_pix
        where paid_at >= ${since} and disposition = 'credit'`,
    ),
  );
  return rows.map((row) => row.charge_id);
}

type CreditRecord = {
  id: string;
  account_id: string;
  status: string;
  is_paid: boolean;
  amount: bigint;
  end_to_end_id: string | null;
  credits: number;
  credited_at: Date | null;
};

function toComparedCredit(row: CreditRecord): ComparedCredit {
  return {
    id: row.id,
    accountId: row.account_id,
    status: row.status,
    isPaid: row.is_paid,
    amount: row.amount,
    endToEndId: row.end_to_end_id,
    credits: row.credits,
    creditedAt: row.credited_at,
  };
}
