import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql } from '@pixmesh/postgres/sql';
import type { TimeWindow } from '@pixmesh/reconciliation/list-pages';

/** Rows of one statement; more are read in steps. */
const ROWS_MAX = 10_000;

/** A received Pix as recorded, for comparison. */
export type RecordedPix = {
  endToEndId: string;
  /** Null for money without an owner. */
  accountId: string | null;
  amount: bigint;
  paidAt: Date;
  recordedAt: Date;
  disposition: 'credit' | 'suspense';
};

const COLUMNS = sql`end_to_end_id, account_id, amount, paid_at, recorded_at, disposition`;

/** All that was paid in a window, its end excluded. Reads the table pages that `received_pix_paid_at` does not exclude. */
export async function listRecordedPix(db: Queryable, window: TimeWindow): Promise<RecordedPix[]> {
  const found: RecordedPix[] = [];
  for (let after = ''; ;) {
    const rows = await db.query<PixRecord>(
      named(
        'list_recorded_pix',
        sql`
          select ${COLUMNS}
          from received_pix
          where paid_at >= ${window.from} and paid_at < ${window.to} and end_to_end_id > ${after}
          order by end_to_end_id
          limit ${ROWS_MAX}`,
      ),
    );
    found.push(...rows.map(toRecordedPix));
    if (rows.length < ROWS_MAX) return found;
    after = rows.at(-1)?.end_to_end_id ?? '';
  }
}

/** Primary key reads. */
export async function findRecordedPix(
  db: Queryable,
  endToEndIds: readonly string[],
): Promise<RecordedPix[]> {
  if (endToEndIds.length === 0) return [];
  const rows = await db.query<PixRecord>(
    named(
      'find_recorded_pix',
      sql`select ${COLUMNS} from received_pix where end_to_end_id = any(${endToEndIds}::text[])`,
    ),
  );
  return rows.map(toRecordedPix);
}

/**
 * Those of which something went back since an instant that could not be booked, however long ago they were paid. Reads
 * `pix_returns_seen_at`.
 */
export async function findUnbookedReturns(db: Queryable, since: Date): Promise<string[]> {
  const rows = await db.query<{ end_to_end_id: string }>(
    named(
      'find_unbooked_returns',
      sql`
        select distinct end_to_end_id from pix_returns
        where disposition = 'unbooked' and seen_at >= ${since}`,
    ),
  );
  return rows.map((row) => row.end_to_end_id);
}

/** All Pix that name one of some charges. Reads `received_pix_charge`. */
export async function findPixOfCharges(
  db: Queryable,
  chargeIds: readonly string[],
): Promise<RecordedPix[]> {
  if (chargeIds.length === 0) return [];
  const rows = await db.query<PixRecord>(
    named(
      'find_pix_of_charges',
      sql`select ${COLUMNS} from received_pix where charge_id = any(${chargeIds}::uuid[])`,
    ),
  );
  return rows.map(toRecordedPix);
}

/** All Pix without an owner, up to `limit`. Reads `received_pix_unowned`. */
export async function listUnownedPix(db: Queryable, limit: number): Promise<RecordedPix[]> {
  const rows = await db.query<PixRecord>(
    named(
      'find_unowned_pix',
      sql`
        select ${COLUMNS} from received_pix
        where charge_id is null
        order by recorded_at desc
        limit ${limit}`,
    ),
  );
  return rows.map(toRecordedPix);
}

/** Money without an owner that an operator has given to an account. */
export type DecidedCredit = { itemId: string; accountId: string; amount: bigint };

/** What these accounts were given. Each is an operator's task: they are few. */
export async function findSuspenseCredits(
  db: Queryable,
  accountIds: readonly string[],
): Promise<DecidedCredit[]> {
  return await db.query(
    named(
      'find_suspense_credits',
      sql`
        select item_id as "itemId", account_id as "accountId", amount
        from suspense_resolutions
        where action = 'accept' and owner_id is null and account_id = any(${accountIds}::uuid[])`,
    ),
  );
}

type PixRecord = {
  end_to_end_id: string;
  account_id: string | null;
  amount: bigint;
  paid_at: Date;
  recorded_at: Date;
  disposition: RecordedPix['disposition'];
};

function toRecordedPix(row: PixRecord): RecordedPix {
  return {
    endToEndId: row.end_to_end_id,
    accountId: row.account_id,
    amount: row.amount,
    paidAt: row.paid_at,
    recordedAt: row.recorded_at,
    disposition: row.disposition,
  };
}
