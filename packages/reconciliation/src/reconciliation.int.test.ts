import { registerReconciliationRoutes } from './reconciliation-routes.ts';
import { createServiceApp } from '@pixmesh/http/service-app';
import { AppError } from '@pixmesh/kernel/app-error';
import { sql } from '@pixmesh/postgres/sql';
import { newId } from '@pixmesh/kernel/ids';
import { createLogger } from '@pixmesh/telemetry/logger';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { type Check, type FoundBreak, NEVER_IN_FLIGHT, type Scope } from './check.ts';
import { readFigures } from './figures.sql.ts';
import { releaseLease, takeIncrementalLease } from './leases.sql.ts';
import { type Reconciliation, startReconciliation } from './reconciliation.ts';

const NEVER_MS = 3_600_000;
/** Past every window. */
const OLD = NEVER_IN_FLIGHT;
const logger = createLogger('test', 'silent');

let database: TestDatabase;
let running: Reconciliation[];
/** What the check of the test finds next, or the reason why it cannot compare. */
let found: FoundBreak[] | Error;
let scopes: Scope[];

beforeEach(async () => {
  database = await createTestDatabase('charges');
  // Runs of their own accord only where the test is about them.
  await database.db.query(sql`update reconciliation_lease set due_at = 'infinity'`);
  running = [];
  found = [];
  scopes = [];
});

afterEach(async () => {
  await Promise.all(running.map((one) => one[Symbol.asyncDispose]()));
  await database[Symbol.asyncDispose]();
});

describe('a run', () => {
  test('shows what it found, in cents and with its age, and nothing of a clean check', async () => {
    found = [
      { kind: 'amount', id: 'a', expected: '10', found: '7', amountCents: -3n },
      { kind: 'missing_left', id: 'b' },
    ];
    const report = await start([
      aCheck(),
      aCheck('clean', () => ({ compared: 9, breaks: [] })),
    ]).runNow();
    expect(report).toEqual({
      service: 'test',
      checked_at: expect.any(String),
      checks: [
        {
          name: 'check',
          compared: 1,
          breaks: [
            {
              kind: 'amount',
              id: 'a',
              expected: '10',
              found: '7',
              amount: -3,
              since: expect.any(String),
            },
            {
              kind: 'missing_left',
              id: 'b',
              expected: null,
              found: null,
              amount: null,
              since: expect.any(String),
            },
          ],
        },
        { name: 'clean', compared: 9, breaks: [] },
      ],
      full_run: null,
    });
  });

  test('keeps the age of a break over runs and restarts, and forgets one that healed', async () => {
    found = [
      { kind: 'state', id: 'a' },
      { kind: 'state', id: 'b' },
    ];
    const before = start([aCheck()]);
    const first = await before.runNow();
    await before[Symbol.asyncDispose]();
    found = [{ kind: 'state', id: 'a' }];
    const second = await start([aCheck()]).runNow();
    expect(second.checks[0]?.breaks).toEqual([first.checks[0]?.breaks[0]]);
  });

  test('is full the first time, and then compares what changed and at what it had found', async () => {
    const reconciliation = start([aCheck()]);
    found = [{ kind: 'state', id: 'a' }];
    await reconciliation.runNow();
    await reconciliation.runNow();
    await reconciliation.requestFull(10_000);
    expect(scopes.map(({ since, knownIds }) => ({ isFull: since === null, knownIds }))).toEqual([
      { isFull: true, knownIds: [] },
      { isFull: false, knownIds: ['a'] },
      { isFull: true, knownIds: ['a'] },
    ]);
    expect(scopes[1]?.since?.getTime()).toBeLessThan(Date.now());
  });

  test('goes on from where both sides were complete, where that is before it began', async () => {
    const comparedUntil = new Date(Date.now() - 600_000);
    const check: Check = {
      name: 'check',
      run: (scope) => {
        scopes.push(scope);
        return Promise.resolve({ compared: 1, breaks: [], comparedUntil });
      },
    };
    const reconciliation = start([check]);
    await reconciliation.runNow();
    await reconciliation.runNow();
    expect(scopes[1]?.since?.getTime()).toBeLessThan(comparedUntil.getTime());
  });

  test('asks again for an item that could not be read, and keeps what was known of it until then', async () => {
    found = [{ kind: 'state', id: 'a', changedAt: OLD }];
    const one = start([aCheck()]);
    await one.runNow();
    found = [{ kind: 'unavailable', id: 'a', changedAt: OLD }];
    const unread = await one.runNow();
    expect(unread.checks[0]?.breaks).toMatchObject([{ kind: 'state' }, { kind: 'unavailable' }]);
    found = [];
    expect((await one.runNow()).checks[0]?.breaks).toEqual([]);
    expect(scopes.map(({ knownIds }) => knownIds)).toEqual([[], ['a'], ['a']]);
  });

  test('a difference inside its window is no break yet, and is one when it lasts', async () => {
    found = [{ kind: 'state', id: 'a' }];
    const reconciliation = start([aCheck()], { windowMs: 300 });
    expect((await reconciliation.runNow()).checks[0]?.breaks).toEqual([]);
    await eventually(async () => {
      const report = await reconciliation.runNow();
      expect(report.checks[0]?.breaks).toMatchObject([{ id: 'a' }]);
    });
  });

  test('a difference whose sides should have agreed long ago is a break at once', async () => {
    found = [{ kind: 'state', id: 'a', changedAt: new Date(Date.now() - 120_000) }];
    const report = await start([aCheck()], { windowMs: 500 }).runNow();
    expect(report.checks[0]?.breaks).toHaveLength(1);
  });

  test('what is still inside its window is compared again soon, not after a whole interval', async () => {
    found = [{ kind: 'state', id: 'a' }];
    const reconciliation = start([aCheck()], { windowMs: 200 });
    await reconciliation.runNow();
    await eventually(async () => {
      expect((await reconciliation.latest()).checks[0]?.breaks).toHaveLength(1);
    });
  });

  test('a difference is a break within one run where a second comparison finds it again, and only there', async () => {
    const seen: string[][] = [];
    const check: Check = {
      name: 'check',
      run: ({ knownIds }) => {
        seen.push([...knownIds]);
        const gone: FoundBreak = { kind: 'amount', id: 'on its way', changedAt: OLD };
        const stays: FoundBreak = { kind: 'amount', id: 'stays', changedAt: OLD };
        const late: FoundBreak = { kind: 'amount', id: 'seen once', changedAt: OLD };
        const breaks = seen.length === 1 ? [gone, stays] : [stays, late];
        return Promise.resolve({ compared: 2, breaks });
      },
    };
    const startedMs = performance.now();
    const report = await start([check], { windowMs: 300 }).runNow();
    expect(performance.now() - startedMs).toBeGreaterThan(300);
    expect(seen).toEqual([[], ['on its way', 'stays']]);
    expect(report.checks[0]?.breaks).toMatchObject([{ id: 'stays' }]);
    // What the second comparison alone has found is compared again by the next run, as its second comparison.
    const next = await start([check], { windowMs: 300 }).runNow();
    expect(seen[2]).toEqual(['seen once', 'stays']);
    expect(next.checks[0]?.breaks.map(({ id }) => id).toSorted()).toEqual(['seen once', 'stays']);
  });

  test('that finds nothing new makes no second comparison, and neither does a side that cannot be read', async () => {
    const reconciliation = start([aCheck()], { windowMs: 200 });
    await reconciliation.runNow();
    found = [{ kind: 'unavailable', id: 'a', changedAt: OLD }];
    const report = await reconciliation.runNow();
    expect(report.checks[0]?.breaks).toMatchObject([{ kind: 'unavailable' }]);
    expect(scopes).toHaveLength(2);
    found = [{ kind: 'state', id: 'a', changedAt: OLD }];
    await reconciliation.runNow();
    await reconciliation.runNow();
    expect(scopes).toHaveLength(5);
  });

  test('keeps what it found and reports nothing where the second comparison cannot be made', async () => {
    let runs = 0;
    const check = aCheck('check', () => {
      runs += 1;
      if (runs === 2) throw new AppError('DEPENDENCY_UNAVAILABLE');
      return { compared: 1, breaks: [{ kind: 'state', id: 'a', changedAt: OLD }] };
    });
    const reconciliation = start([check], { windowMs: 100 });
    const first = await reconciliation.runNow();
    expect(first.checks[0]?.breaks).toMatchObject([{ kind: 'unavailable' }]);
    const second = await reconciliation.runNow();
    expect(second.checks[0]?.breaks).toMatchObject([{ kind: 'state', id: 'a' }]);
  });
});

describe('a check that cannot compare', () => {
  test('is a break, keeps what was known, and is made up for by its next run', async () => {
    const reconciliation = start([aCheck(), aCheck('other', () => ({ compared: 1, breaks: [] }))]);
    found = [{ kind: 'state', id: 'a' }];
    await reconciliation.runNow();
    found = new AppError('DEPENDENCY_UNAVAILABLE');
    const failed = await reconciliation.runNow();
    expect(failed.checks.map(({ breaks }) => breaks)).toMatchObject([
      [
        { kind: 'state', id: 'a' },
        { kind: 'unavailable', id: 'check', found: 'DEPENDENCY_UNAVAILABLE' },
      ],
      [],
    ]);
    found = [];
    const healed = await reconciliation.runNow();
    expect(healed.checks[0]?.breaks).toEqual([]);
    expect(scopes[2]?.since).toEqual(scopes[1]?.since);
    expect(scopes[2]?.knownIds).toEqual(['a']);
  });

  test('stays full until it has compared everything once', async () => {
    found = new Error('away');
    const reconciliation = start([aCheck()]);
    await reconciliation.runNow();
    found = [];
    await reconciliation.runNow();
    expect(scopes.map(({ since }) => since)).toEqual([null, null]);
  });
});

describe('replicas', () => {
  test('run one at a time, and show the same report', async () => {
    let busy = 0;
    let busiest = 0;
    const check = aCheck('check', async () => {
      busiest = Math.max(busiest, (busy += 1));
      await database.db.query(sql`select pg_sleep(0.02)`);
      busy -= 1;
      return { compared: 1, breaks: [] };
    });
    const replicas = [start([check]), start([check]), start([check])];
    await Promise.all(replicas.map((one) => one.runNow()));
    const reports = await Promise.all(replicas.map((one) => one.latest()));
    expect(busiest).toBe(1);
    expect(new Set(reports.map((report) => report.checked_at)).size).toBe(1);
  });

  test('one that lost its lease writes nothing any more', async () => {
    const usurped = aCheck('check', async () => {
      await database.db.query(
        sql`update reconciliation_lease set lease_token = gen_random_uuid(), lease_until = now() - interval '1 s'`,
      );
      return { compared: 1, breaks: [{ kind: 'state', id: 'of a zombie' }] };
    });
    await start([usurped]).runNow();
    found = [];
    const report = await start([aCheck()]).runNow();
    expect(report.checks[0]?.breaks).toEqual([]);
    expect(scopes[0]?.knownIds).toEqual([]);
  });

  test('one that died in a run is followed when its lease ends', async () => {
    await database.db.query(
      sql`update reconciliation_lease set lease_token = gen_random_uuid(), lease_until = now() + interval '300 ms'`,
    );
    const report = await start([aCheck()]).runNow();
    expect(report.checked_at).not.toBeNull();
  });

  test('the age of the newest run is shown before the first one has finished, too', async () => {
    await database.db.query(
      sql`update reconciliation_lease set due_at = now() - interval '20 minutes'`,
    );
    expect((await readFigures(database.db, ['check'])).ageSeconds).toBeGreaterThan(1_199);
    const token = newId();
    expect(await takeIncrementalLease(database.db, { token, evenIfNotDue: false })).toBe(true);
    await releaseLease(database.db, { kind: 'incremental', token });
    expect((await readFigures(database.db, ['check'])).ageSeconds).toBeGreaterThan(1_199);
    const report = await start([aCheck()]).runNow();
    expect(report.checked_at).not.toBeNull();
    expect((await readFigures(database.db, ['check'])).ageSeconds).toBeLessThan(1_199);
  });

  test('a run that is due starts by itself', async () => {
    await database.db.query(
      sql`update reconciliation_lease set due_at = now() - interval '1 second'`,
    );
    const reconciliation = start([aCheck()]);
    await eventually(async () => {
      expect((await reconciliation.latest()).checked_at).not.toBeNull();
    });
  });
});

test('the routes show the newest run and run on request', async () => {
  found = [{ kind: 'state', id: 'a' }];
  const app = createServiceApp({ logger, listener: 'internal' });
  registerReconciliationRoutes(app, start([aCheck()]));
  const before = await app.inject({ method: 'GET', url: '/internal/reconciliation' });
  expect(before.json()).toEqual({ service: 'test', checked_at: null, checks: [], full_run: null });
  const url = '/internal/reconciliation';
  const empty = await app.inject({ method: 'POST', url });
  const full = await app.inject({ method: 'POST', url, payload: { full: true } });
  const wrong = await app.inject({ method: 'POST', url, payload: { full: 'yes' } });
  const after = await app.inject({ method: 'GET', url });
  expect([empty.statusCode, full.statusCode, wrong.statusCode]).toEqual([200, 200, 400]);
  expect(empty.json().checks[0].breaks).toMatchObject([{ id: 'a' }]);
  expect(full.json()).toMatchObject({ full_run: null, checks: [{ breaks: [{ id: 'a' }] }] });
  expect(after.json().checks[0].breaks).toMatchObject([{ id: 'a' }]);
  await app.close();
});

function start(
  checks: Check[],
  periods: { windowMs?: number; fullIntervalMs?: number } = {},
): Reconciliation {
  const reconciliation = startReconciliation({
    db: database.db,
    logger,
    service: 'test',
    checks,
    intervalMs: NEVER_MS,
    fullIntervalMs: NEVER_MS,
    windowMs: 0,
    ...periods,
  });
  running.push(reconciliation);
  return reconciliation;
}

function aCheck(
  name = 'check',
  run?: () => ReturnType<Check['run']> | Awaited<ReturnType<Check['run']>>,
): Check {
  return {
    name,
    run: async (scope) => {
      if (run) return await run();
      scopes.push(scope);
      if (found instanceof Error) throw found;
      return { compared: 1, breaks: found };
    },
  };
}
