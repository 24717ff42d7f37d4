import { TOPICS } from '@pixmesh/contracts/topics';
import { type HoldId, NIL_ID, type PayoutId } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';
import type { TimeWindow } from '@pixmesh/reconciliation/list-pages';

import type { StoredStatus } from '#payouts/payout-row.ts';

/** Of a payout, what others know too. */
export type ComparedPayout = {
  id: PayoutId;
  accountId: string;
  holdId: HoldId;
  status: StoredStatus;
  amount: bigint;
  fee: bigint;
  endToEndId: string | null;
  /** When the acquirer accepted it. */
  processedAt: Date | null;
  /** Whether its end was ordered from the ledger, which may have ended its hold by now. */
  isEnding: boolean;
  /** How the acquirer or the ledger has contradicted its end, whatever they say by now. */
  contradiction: string | null;
};

/** A payout that has ended, and when its last event was written. */
export type EndedPayout = ComparedPayout & { endedAt: Date | null };

const COLUMNS = sql`
  id, account_id, hold_id, status, amount, fee, end_to_end_id, processed_at, ending, contradiction`;

/** By the time of their last event, which their end wrote. Reads `events_numbered`. */
const ENDED_AT = sql`
  cross join lateral (
    select max(uuid_extract_timestamp(event_id)) as ended_at
    from events
    where topic = ${TOPICS.payoutsEvents} and key = id::text and sequence is not null
  ) as event`;

const HAS_ENDED = sql`status in ('completed', 'failed', 'canceled')`;

/** Payouts whose first call to the acquirer was in a window, its end excluded. */
export async function listSentPayouts(
  db: Queryable,
  window: TimeWindow,
): Promise<ComparedPayout[]> {
  const rows = await db.query<ComparedRecord>(
    named(
      'reconciliation_sent_payouts',
      sql`
        select ${COLUMNS}
        from payouts
        where first_put_at >= ${window.from} and first_put_at < ${window.to}`,
    ),
  );
  return rows.map(toCompared);
}

export async function findPayoutsById(
  db: Queryable,
  ids: readonly string[],
): Promise<ComparedPayout[]> {
  if (ids.length === 0) return [];
  const rows = await db.query<ComparedRecord>(
    named(
      'reconciliation_payouts_by_id',
      sql`select ${COLUMNS} from payouts where id = any(${ids}::uuid[])`,
    ),
  );
  return rows.map(toCompared);
}

export async function findPayoutsByHold(
  db: Queryable,
  holdIds: readonly string[],
): Promise<ComparedPayout[]> {
  if (holdIds.length === 0) return [];
  const rows = await db.query<ComparedRecord>(
    named(
      'reconciliation_payouts_by_hold',
      sql`select ${COLUMNS} from payouts where hold_id = any(${holdIds}::uuid[])`,
    ),
  );
  return rows.map(toCompared);
}

export async function findPayoutsByEndToEndId(
  db: Queryable,
  endToEndIds: readonly string[],
): Promise<ComparedPayout[]> {
  if (endToEndIds.length === 0) return [];
  const rows = await db.query<ComparedRecord>(
    named(
      'reconciliation_payouts_by_e2e',
      sql`select ${COLUMNS} from payouts where end_to_end_id = any(${endToEndIds}::text[])`,
    ),
  );
  return rows.map(toCompared);
}

/** Payouts that the acquirer contradicted. Reads `payouts_contradiction`. */
export async function listContradicted(db: Queryable): Promise<ComparedPayout[]> {
  const rows = await db.query<ComparedRecord>(
    named(
      'reconciliation_contradicted',
      sql`select ${COLUMNS} from payouts where contradiction is not null`,
    ),
  );
  return rows.map(toCompared);
}

const OPEN_PER_PAGE = 1_000;

/** Payouts on their way, in pages. One that is approved meanwhile may come twice; none that stays open is left out. */
export async function* openPayouts(db: Queryable): AsyncGenerator<ComparedPayout[]> {
  for (let after: OpenRecord | null = null; ;) {
    const page: OpenRecord[] = await db.query<OpenRecord>(openPageStatement(after));
    yield page.map(toCompared);
    if (page.length < OPEN_PER_PAGE) return;
    after = page.at(-1) ?? null;
  }
}

/**
 * Reads `payouts_open`, whose condition stands here word for word, along its order: the planner must not know the
 * limit, as in `newest-first`.
 */
export function openPageStatement(after: OpenPlace | null): Statement {
  return named(
    'reconciliation_open_payouts',
    sql`
      select ${COLUMNS}, created_at
      from payouts
      where status in ('pending', 'processing')
        and (status, created_at, id) > (
          coalesce(${after?.status ?? null}::text, ''),
          coalesce(${after?.created_at ?? null}::timestamptz, '-infinity'),
          ${after?.id ?? NIL_ID}::uuid
        )
      order by status, created_at, id
      limit (select ${OPEN_PER_PAGE}::int)`,
  );
}

/** Payouts that were sent within a window and have not ended, oldest send first. Reads `payouts_open`. */
export async function listStuckPayouts(
  db: Queryable,
  { window, limit }: { window: TimeWindow; limit: number },
): Promise<ComparedPayout[]> {
  const rows = await db.query<ComparedRecord>(
    named(
      'reconciliation_stuck_payouts',
      sql`
        select ${COLUMNS}
        from payouts
        where status = 'processing' and first_put_at >= ${window.from} and first_put_at < ${window.to}
        order by first_put_at, id
        limit ${limit}`,
    ),
  );
  return rows.map(toCompared);
}

/** A page of all ended payouts by id. */
export async function listEndedPayouts(
  db: Queryable,
  page: { after: string | null; limit: number },
): Promise<EndedPayout[]> {
  const rows = await db.query<EndedRecord>(
    named(
      'reconciliation_ended_payouts',
      sql`
        select ${COLUMNS}, ended_at
        from (
          select *
          from payouts
          where ${HAS_ENDED} and id > ${page.after ?? NIL_ID}::uuid
          order by id
          limit ${page.limit}
        ) as payouts
        ${ENDED_AT}
        order by id`,
    ),
  );
  return rows.map(toEnded);
}

/** Those of the payouts that have ended. */
export async function findEndedPayouts(
  db: Queryable,
  ids: readonly string[],
): Promise<EndedPayout[]> {
  if (ids.length === 0) return [];
  const rows = await db.query<EndedRecord>(
    named(
      'reconciliation_find_ended',
      sql`select ${COLUMNS}, ended_at from payouts ${ENDED_AT} where id = any(${ids}::uuid[]) and ${HAS_ENDED}`,
    ),
  );
  return rows.map(toEnded);
}

/** A return of a payout's money, as recorded. */
export type RecordedReturn = {
  payoutId: string;
  endToEndId: string;
  returnId: string;
  accountId: string;
  amount: bigint;
};

/**
 * What came back of some payouts, whatever the acquirer called each when it was recorded. Reads
 * `payout_returns_payout`.
 */
export async function findReturnsOfPayouts(
  db: Queryable,
  payoutIds: readonly string[],
): Promise<RecordedReturn[]> {
  if (payoutIds.length === 0) return [];
  return await db.query(
    named(
      'reconciliation_returns_of_payouts',
      sql`
        select
          payout_id as "payoutId", end_to_end_id as "endToEndId", return_id as "returnId", account_id as "accountId",
          amount
        from payout_returns
        where payout_id = any(${payoutIds}::uuid[])`,
    ),
  );
}

/** An item of suspense that an operator has accepted. */
export type AcceptedItem = { itemId: string; accountId: string; amount: bigint };

/** Those of the items that were accepted. Reads `suspense_resolutions_item`. */
export async function findAcceptedItems(
  db: Queryable,
  itemIds: readonly string[],
): Promise<AcceptedItem[]> {
  if (itemIds.length === 0) return [];
  return await db.query(
    named(
      'reconciliation_accepted_items',
      sql`
        select item_id as "itemId", account_id as "accountId", amount
        from suspense_resolutions
        where item_id = any(${itemIds}::uuid[])`,
    ),
  );
}

type ComparedRecord = {
  id: PayoutId;
  account_id: string;
  hold_id: HoldId;
  status: StoredStatus;
  amount: bigint;
  fee: bigint;
  end_to_end_id: string | null;
  processed_at: Date | null;
  ending: string | null;
  contradiction: string | null;
};

/** Where a page of open payouts ends. */
type OpenPlace = { status: string; created_at: Date; id: string };
type OpenRecord = ComparedRecord & OpenPlace;

type EndedRecord = ComparedRecord & { ended_at: Date | null };

function toCompared(row: ComparedRecord): ComparedPayout {
  return {
    id: row.id,
    accountId: row.account_id,
    holdId: row.hold_id,
    status: row.status,
    amount: row.amount,
    fee: row.fee,
    endToEndId: row.end_to_end_id,
    processedAt: row.processed_at,
    isEnding: row.ending !== null,
    contradiction: row.contradiction,
  };
}

function toEnded(row: EndedRecord): EndedPayout {
  return { ...toCompared(row), endedAt: row.ended_at };
}
