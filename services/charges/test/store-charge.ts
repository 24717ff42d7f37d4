import type { AccountId, ApplicationId, ChargeId } from '@pixmesh/kernel/ids';
import { newId } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import { sql, type Statement } from '@pixmesh/postgres/sql';

import type { StoredStatus } from '#charge/charge-row.ts';

export type StoredCharge = {
  id: ChargeId;
  accountId: AccountId;
  applicationId: ApplicationId;
  status: StoredStatus;
  source: 'api' | 'checkout' | 'dashboard';
  acceptedE2e: string | null;
  createdAt: Date;
  expiresAt: Date;
};

/** Puts a charge of the past into the table, past its creation. */
export async function storeCharge(
  db: Queryable,
  changes: Partial<StoredCharge> = {},
): Promise<StoredCharge> {
  const row: StoredCharge = {
    id: newId(),
    accountId: newId(),
    applicationId: newId(),
    status: 'pending',
    source: 'api',
    acceptedE2e: null,
    createdAt: new Date('2026-11-21T12:00:00.000Z'),
    expiresAt: new Date('2046-11-21T12:00:00.000Z'),
    ...changes,
  };
  const lifetimeSeconds = (row.expiresAt.getTime() - row.createdAt.getTime()) / 1000;
  await insertCharges(
    db,
    sql`
      select ${row.id}::uuid as id, ${row.accountId}::uuid as account_id,
        ${row.applicationId}::uuid as application_id, ${row.source}::text as source,
        ${row.status}::text as status, ${row.acceptedE2e}::text as accepted_e2e,
        ${row.createdAt}::timestamptz as created_at, ${lifetimeSeconds}::float8 as lifetime`,
  );
  return row;
}

type History = {
  accountId: AccountId;
  rows: number;
  spacingSeconds: number;
  /** Of the charge with a `number`, in seconds. */
  lifetime?: Statement;
  /** A part of it: this many, behind so many of the oldest. */
  from?: number;
  count?: number;
};

/**
 * The history of one account, one charge each `spacingSeconds` until now. Two of five were never paid, and most of
 * those have expired; each hundredth failed; infractions are rare and stand among the oldest only. Lifetimes are an
 * hour and a day, with some of every length between.
 */
export async function fillCharges(db: Queryable, history: History): Promise<void> {
  const { accountId, rows, spacingSeconds, lifetime = MIXED_LIFETIMES } = history;
  const { from = 0, count = rows } = history;
  await insertCharges(
    db,
    sql`
      select gen_random_uuid() as id, ${accountId}::uuid as account_id, ${accountId}::uuid as application_id,
        'api' as source,
        case
          when number > ${rows}::int - 3 then 'processing'
          when number <= ${rows}::int / 20 and number % 1000 = 999 then 'infraction'
          when number % 100 = 99 then 'failed'
          when number % 50 = 47 then 'refunded'
          when number % 5 < 2 then 'pending'
          else 'paid'
        end as status,
        case when number % 2000 = 1 then 'E' || gen_random_uuid() end as accepted_e2e,
        now() - (${rows}::int - number) * make_interval(secs => ${spacingSeconds}::float8) as created_at,
        ${lifetime} as lifetime
      from generate_series(${from}::int + 1, ${from}::int + ${count}::int) as number`,
  );
}

const MIXED_LIFETIMES = sql`
  case when number % 4 < 2 then 86400 when number % 30 = 3 then 60 + number::bigint * 7919 % 604740 else 3600 end`;

/** `charges` selects what tests distinguish; the rest is the same for all. */
async function insertCharges(db: Queryable, charges: Statement): Promise<void> {
  await db.query(sql`
    insert into charges (
      id, account_id, application_id, source, status, amount, customer_name, customer_email, customer_document,
      expires_in, late_payment_policy, release_delay_seconds, fingerprint, br_code, accepted_e2e, failure_reason,
      created_at, expires_at
    )
    select id, account_id, application_id, source, status, 12345, 'Ana Souza', 'ana@example.com', '52998224725',
      lifetime, 'accept', 0, '\\x00', repeat('0', 150), accepted_e2e,
      case when status = 'failed' then 'AC03: no account' end,
      date_trunc('milliseconds', created_at),
      date_trunc('milliseconds', created_at) + make_interval(secs => lifetime)
    from (${charges}) as charges`);
}
