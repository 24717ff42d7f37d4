import type { Check, FoundBreak } from '@pixmesh/reconciliation/check';
import type { Database } from '@pixmesh/postgres/pool';
import { sql, type Statement } from '@pixmesh/postgres/sql';
import { isLong, scaled } from '@pixmesh/testkit/long-runs';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { openAsSuperuser, seedLedger } from '#test/seeded-ledger.ts';

import { badBalancesStatement, badJournalsStatement, planBySteps } from './check-entries.sql.ts';
import { ledgerChecks } from './ledger-checks.ts';

const HOUR_AGO = new Date(Date.now() - 3_600_000);
const IN_AN_HOUR = new Date(Date.now() + 3_600_000);
/** About a million entries in a long run: seven a round, over owners of very different size. */
const OWNERS = scaled(30, 1_000);
const ROUNDS = scaled(20, 100);
const PARTS = 10;
const HOT_ROUNDS = scaled(5_000, 43_000);
const FULL_MS_MAX = 30_000;
const INCREMENTAL_MS_MAX = 1_000;
const TRIES = 3;

let database: TestDatabase;
let admin: Database;
let owner: string;

beforeAll(async () => {
  database = await createTestDatabase('ledger');
  admin = openAsSuperuser(database.adminUrl);
  await seedLedger(admin, { owners: 2, payouts: 3 });
  const [first] = await admin.query<{ account_id: string }>(
    sql`select account_id from accounts order by account_id limit 1`,
  );
  owner = first?.account_id ?? '';
});

afterAll(async () => {
  await admin[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

describe.each([
  ['a full run', null],
  ['an incremental run', HOUR_AGO],
])('%s', (_name, since) => {
  test('finds nothing in books that agree', async () => {
    const outcomes = await runAll(since);
    expect(outcomes.map(({ name, compared, breaks }) => ({ name, compared, breaks }))).toEqual([
      { name: 'ledger_sum', compared: 22, breaks: [] },
      { name: 'balance', compared: 22, breaks: [] },
      { name: 'suspense', compared: 2, breaks: [] },
      { name: 'hold_entries', compared: 2, breaks: [] },
      { name: 'pending_entries', compared: 0, breaks: [] },
      { name: 'blocked_entries', compared: 0, breaks: [] },
      { name: 'outbox', compared: 0, breaks: [] },
      { name: 'dead_letter', compared: 0, breaks: [] },
    ]);
  });

  test('finds a journal that does not net to zero, and where the running balance left its way', async () => {
    const command = await commandOf(4);
    await changed(
      sql`update entries set amount = amount + 7 where ${entryOf(4, 'available')}`,
      async () => {
        expect(await findAll(since)).toEqual({
          ledger_sum: [`sum ${command} 0 7 (7)`],
          balance: [`running_balance ${owner}/available/4 196 189 (-7)`],
        });
      },
      sql`update entries set amount = amount - 7 where ${entryOf(4, 'available')}`,
    );
  });

  test('finds a balance that is not the sum of its entries, and that the ledger is off by it', async () => {
    await changed(
      sql`update accounts set available = available + 9 where account_id = ${owner}`,
      async () => {
        expect(await findAll(since)).toEqual({
          ledger_sum: ['sum ledger 0 9 (9)'],
          balance: [`balance ${owner}/available 256 265 (9)`],
        });
      },
      sql`update accounts set available = available - 9 where account_id = ${owner}`,
    );
  });

  test('finds an entry that is missing', async () => {
    const command = await commandOf(11);
    await changed(
      sql`delete from entries where ${entryOf(11, 'suspense')}`,
      async () => {
        expect(await findAll(since)).toEqual({
          ledger_sum: [`sum ${command} 0 -5 (-5)`],
          balance: [`balance ${owner}/suspense 0 5 (5)`],
        });
      },
      sql`insert into entries (account_id, version, kind, amount, balance_after) values (${owner}, 11, 'suspense', 5, 5)`,
    );
  });

  test('finds a journal without entries, entries without journal, and the gap in the numbers', async () => {
    const command = await commandOf(2);
    const [row] = await admin.query<{ row: object }>(
      sql`select to_json(journals) as row from journals where command_id = ${command}`,
    );
    await changed(
      sql`delete from journals where command_id = ${command}`,
      async () => {
        expect(await findAll(since)).toEqual({
          ledger_sum: [`missing_left ${owner}/2 a journal entries alone (0)`],
          balance: [`version ${owner} 11 10 (null)`],
        });
      },
      sql`insert into journals select * from json_populate_record(null::journals, ${JSON.stringify(row?.row)})`,
    );

    const alone = sql`
      insert into journals (command_id, account_id, version, created_at, kind, outcome, fingerprint)
      values (${NEW_ID}, ${owner}, 12, now(), 'book_acquirer_tariff', 'booked', gen_random_uuid())`;
    await changed(
      alone,
      async () => {
        expect(await findAll(since)).toEqual({
          ledger_sum: [`missing_right ${NEW_ID} entries a journal alone (null)`],
          balance: [`version ${owner} 11 12 (null)`],
        });
      },
      sql`delete from journals where command_id = ${NEW_ID}`,
    );
  });

  test('finds suspense, held, pending and blocked money that no open item explains, and items without money', async () => {
    await changed(
      sql`update suspense_items set amount = 3 where account_id = ${owner}`,
      async () => {
        expect(await findAll(since)).toEqual({ suspense: [`balance ${owner} 3 5 (2)`] });
      },
      sql`update suspense_items set amount = 5 where account_id = ${owner}`,
    );
    await changed(
      sql`update holds set state = 'settled' where account_id = ${owner}`,
      async () => {
        expect(await findAll(since)).toEqual({ hold_entries: [`balance ${owner} 0 11 (11)`] });
      },
      sql`update holds set state = 'open' where account_id = ${owner}`,
    );
    await changed(
      sql`
        insert into releases (command_id, account_id, amount, release_at)
        values (${NEW_ID}, ${owner}, 4, now())`,
      async () => {
        expect(await findAll(since)).toEqual({ pending_entries: [`balance ${owner} 4 0 (-4)`] });
      },
      sql`delete from releases`,
    );
    await changed(
      sql`
        insert into pix_debits
          (account_id, end_to_end_id, received, refunding, refunded, returned, blocked, shortfall, disputed)
        values (${owner}, 'E1', 9, 0, 0, 0, 6, 0, 0)`,
      async () => {
        expect(await findAll(since)).toEqual({ blocked_entries: [`balance ${owner} 6 0 (-6)`] });
      },
      sql`delete from pix_debits`,
    );
    await changed(
      sql`update suspense_items set resolved_at = now() where account_id = ${owner}`,
      async () => {
        expect(await findAll(since)).toEqual({ suspense: [`balance ${owner} 0 5 (5)`] });
      },
      sql`update suspense_items set resolved_at = null where account_id = ${owner}`,
    );
  });

  test('finds nothing once all is as it was', async () => {
    expect(await findAll(since)).toEqual({});
  });
});

test('an incremental run looks at what it had found before, however old, until it has healed', async () => {
  const huge = await createTestDatabase('ledger');
  const superuser = openAsSuperuser(huge.adminUrl);
  // More journals than an incremental run walks over by itself.
  await seedLedger(superuser, { owners: 1, payouts: 4_000, secondsApart: 1 });
  await superuser.query(
    sql`update entries set amount = amount + 1 where version = 101 and kind = 'held'`,
  );
  const [sums] = ledgerChecks(huge) as [Check];
  const full = await run(sums, null);
  const unaware = await run(sums, IN_AN_HOUR);
  const again = await run(
    sums,
    IN_AN_HOUR,
    full.breaks.map(({ id }) => id),
  );
  await superuser.query(
    sql`update entries set amount = amount - 1 where version = 101 and kind = 'held'`,
  );
  const healed = await run(
    sums,
    IN_AN_HOUR,
    full.breaks.map(({ id }) => id),
  );
  expect(full.breaks).toMatchObject([{ kind: 'sum', amountCents: 1n }]);
  expect(unaware.breaks).toEqual([]);
  expect(again.breaks).toEqual(full.breaks);
  expect(healed.breaks).toEqual([]);
  await superuser[Symbol.asyncDispose]();
  await huge[Symbol.asyncDispose]();
}, 60_000);

describe('a large ledger', () => {
  let large: TestDatabase;
  let superuser: Database;

  beforeAll(async () => {
    large = await createTestDatabase('ledger');
    superuser = openAsSuperuser(large.adminUrl);
    // In parts, each of which ends within the limit of a statement; about a hundred journals a second.
    for (let part = 0; part < PARTS; part += 1) {
      await seedLedger(superuser, { owners: OWNERS / PARTS, payouts: ROUNDS, secondsApart: 10 });
    }
    await seedLedger(superuser, { owners: 1, payouts: HOT_ROUNDS, secondsApart: 0.1 });
  }, 300_000);

  afterAll(async () => {
    await superuser[Symbol.asyncDispose]();
    await large[Symbol.asyncDispose]();
  });

  test('is read whole in steps, each through the indexes, and an increment reads what is new', async () => {
    const entries = await count(superuser, sql`select count(*) from entries`);
    const checks = ledgerChecks(large);
    const times: Record<string, number> = {};
    for (const check of checks) {
      const fullMs = await timed(() => run(check, null));
      const incrementalMs = await timed(() => run(check, new Date(Date.now() - 60_000)), TRIES);
      times[`${check.name} full`] = fullMs.ms;
      times[`${check.name} incremental`] = incrementalMs.ms;
      expect(fullMs.value.breaks).toEqual([]);
      expect(incrementalMs.value.breaks).toEqual([]);
    }
    const sum = (scope: string): number =>
      Object.entries(times).reduce((all, [name, ms]) => (name.endsWith(scope) ? all + ms : all), 0);
    if (isLong) {
      process.stdout.write(`${entries} entries: ${JSON.stringify(times)}\n`);
      expect(entries).toBeGreaterThanOrEqual(1_000_000);
      expect(sum(' full')).toBeLessThan(FULL_MS_MAX);
      expect(sum(' incremental')).toBeLessThan(INCREMENTAL_MS_MAX);
    }
    expect(times).toHaveProperty('balance full');
  }, 300_000);

  test.each([
    ['sums', badJournalsStatement],
    ['balances', badBalancesStatement],
  ])('a step of %s scans no table from end to end', async (_name, statement) => {
    const [hot] = await superuser.query<{ account_id: string }>(
      sql`select account_id from accounts order by version desc limit 1`,
    );
    const accountId = hot?.account_id ?? '';
    const plan = await explain(statement([{ accountId, from: 100n, to: 200n }]));
    expect(scansOf(plan, 'Seq Scan')).not.toContain('entries');
    expect(scansOf(plan, 'Seq Scan')).not.toContain('journals');
    expect(JSON.stringify(plan)).toContain('entries_pkey');
    // A hundred journals of one owner with tens of thousands: nothing is read that is thrown away.
    expect(JSON.stringify(plan)).not.toMatch(/"Rows Removed by Filter":[1-9]\d{3}/);
    expect(rowsRead(plan)).toBeLessThan(5_000);
  });

  async function explain(statement: Statement): Promise<PlanNode> {
    const rows = await superuser.transaction(async (tx) => {
      await planBySteps(tx);
      return await tx.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
        sql`explain (analyze, format json) ${statement}`,
      );
    });
    const plan = rows[0]?.['QUERY PLAN'][0].Plan;
    if (!plan) throw new Error('no plan');
    return plan;
  }
});

type PlanNode = {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  Plans?: PlanNode[];
};

function nodesOf(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}

function scansOf(plan: PlanNode, type: string): string[] {
  return nodesOf(plan).flatMap((node) =>
    node['Node Type'] === type ? [node['Relation Name'] ?? ''] : [],
  );
}

function rowsRead(plan: PlanNode): number {
  return nodesOf(plan)
    .filter((node) => node['Node Type'].includes('Scan') && node['Relation Name'])
    .reduce((sum, node) => sum + node['Actual Rows'] * node['Actual Loops'], 0);
}

const NEW_ID = '019aa111-2222-7333-8444-555566667777';

/** Makes a change past every rule, looks, and takes it back. */
async function changed(
  change: Statement,
  verify: () => Promise<void>,
  back: Statement,
): Promise<void> {
  await admin.query(sql`set session_replication_role to replica`);
  await admin.query(change);
  try {
    await verify();
  } finally {
    await admin.query(back);
    await admin.query(sql`set session_replication_role to default`);
  }
}

function entryOf(version: number, kind: string): Statement {
  return sql`account_id = ${owner} and version = ${version} and kind = ${kind}::account_kind`;
}

async function commandOf(version: number): Promise<string> {
  const rows = await admin.query<{ command_id: string }>(
    sql`select command_id from journals where account_id = ${owner} and version = ${version}`,
  );
  return rows[0]?.command_id ?? '';
}

/** Breaks by check, each in one line; checks without any are left out. All but that of the whole name their owner. */
async function findAll(since: Date | null): Promise<Record<string, string[]>> {
  const outcomes = await runAll(since);
  const parts = outcomes.flatMap(({ breaks }) => breaks).filter(({ id }) => id !== 'ledger');
  expect(parts.map(({ accountId }) => accountId)).toEqual(parts.map(() => owner));
  return Object.fromEntries(
    outcomes
      .filter(({ breaks }) => breaks.length > 0)
      .map(({ name, breaks }) => [name, breaks.map(describeBreak)]),
  );
}

function describeBreak({ kind, id, expected, found, amountCents }: FoundBreak): string {
  return `${kind} ${id} ${expected} ${found} (${amountCents ?? null})`;
}

async function runAll(since: Date | null) {
  const outcomes = [];
  for (const check of ledgerChecks(database)) {
    outcomes.push({ name: check.name, ...(await run(check, since)) });
  }
  return outcomes;
}

function run(check: Check, since: Date | null, knownIds: string[] = []) {
  return check.run({ since, knownIds, signal: new AbortController().signal });
}

/** The quickest of some tries: what the statements need, not what else the machine was doing. */
async function timed<T>(work: () => Promise<T>, tries = 1): Promise<{ ms: number; value: T }> {
  const startMs = performance.now();
  const value = await work();
  const ms = Math.round(performance.now() - startMs);
  if (tries === 1) return { ms, value };
  const again = await timed(work, tries - 1);
  return again.ms < ms ? again : { ms, value };
}

async function count(db: Database, statement: Statement): Promise<number> {
  const [row] = await db.query<{ count: bigint }>(statement);
  return Number(row?.count ?? 0);
}
