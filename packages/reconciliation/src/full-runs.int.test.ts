import { AppError } from '@pixmesh/kernel/app-error';
import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { eventually } from '@pixmesh/testkit/eventually';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { type Check, type FoundBreak, NEVER_IN_FLIGHT, type Scope } from './check.ts';
import { BREAKS_MAX } from './choose-kept.ts';
import { readFigures } from './figures.sql.ts';
import { requestFullRun, takeFullLease } from './leases.sql.ts';
import { type Reconciliation, startReconciliation } from './reconciliation.ts';

/** Short enough that a replica asks each second whether a run is due. */
const PERIODS = { intervalMs: 60_000, fullIntervalMs: 3_600_000 };

let database: TestDatabase;
let running: Reconciliation[];
let scopes: Scope[];

beforeEach(async () => {
  database = await createTestDatabase('charges');
  // Incremental runs only where a test asks for one.
  await database.db.query(sql`update reconciliation_lease set due_at = 'infinity'`);
  running = [];
  scopes = [];
});

afterEach(async () => {
  await Promise.all(running.map((one) => one[Symbol.asyncDispose]()));
  await database[Symbol.asyncDispose]();
});

describe('a full run on request', () => {
  test('is answered after the wait at the latest, shows how far it is, and is gone when it has ended', async () => {
    const gate = Promise.withResolvers<void>();
    const slow = aCheck('slow', async () => {
      await gate.promise;
      return { compared: 5, breaks: [] };
    });
    const reconciliation = start([aCheck('quick', () => ({ compared: 7, breaks: [] })), slow]);
    const asked = await reconciliation.requestFull(0);
    expect(asked).toMatchObject({ checked_at: null, full_run: { compared: expect.any(Number) } });
    await eventually(async () => {
      const { full_run: run } = await reconciliation.latest();
      expect(run).toMatchObject({ started_at: expect.any(String), compared: 7 });
    });
    gate.resolve();
    const ended = await eventually(async () => {
      const report = await reconciliation.latest();
      expect(report.full_run).toBeNull();
      return report;
    });
    expect(ended).toMatchObject({ checked_at: expect.any(String), checks: [{}, { compared: 5 }] });
  });

  test('survives the process that took it, and is made by another', async () => {
    await start([aCheck()]).runNow();
    await database.db.query(
      sql`update reconciliation_runs set full_at = now() - interval '2 minutes'`,
    );
    await database.db.query(sql`
      update reconciliation_full_lease
      set requested_at = now() - interval '1 minute', started_at = now() - interval '50 seconds', compared = 3,
          lease_token = gen_random_uuid(), lease_until = now() + interval '300 ms'`);
    const other = start([aCheck()]);
    expect((await other.latest()).full_run).toMatchObject({ compared: 3 });
    await eventually(async () => expect((await other.latest()).full_run).toBeNull());
    expect(scopes.at(-1)?.since).toBeNull();
  });

  test('that is requested during another one is made after it, because it has to begin later', async () => {
    let runs = 0;
    const again = aCheck('again', async () => {
      runs += 1;
      if (runs === 1) await requestFullRun(database.db);
      return { compared: 1, breaks: [] };
    });
    const reconciliation = start([again]);
    expect((await reconciliation.requestFull(10_000)).full_run).toBeNull();
    expect(runs).toBe(2);
  });
});

describe('a full run on request whose process died', () => {
  test('is continued with the checks that had not begun after the request', async () => {
    const others = aCheck('others', () => ({ compared: 1, breaks: [] }));
    const before = start([aCheck(), others]);
    await before.runNow();
    await before[Symbol.asyncDispose]();
    await database.db.query(sql`
      update reconciliation_full_lease
      set requested_at = now() - interval '1 minute', started_at = now(), lease_token = gen_random_uuid(),
          lease_until = now() + interval '300 ms'`);
    await database.db.query(sql`
      update reconciliation_runs set full_at = now() - interval '2 minutes' where check_name = 'others'`);
    const former = scopes.length;
    const reconciliation = start([aCheck(), others]);
    await eventually(async () => expect((await reconciliation.latest()).full_run).toBeNull());
    expect(scopes).toHaveLength(former);
  });
});

describe('a daily full run', () => {
  test('is made of a check whose newest one is old, and of no other', async () => {
    const others = aCheck('others', () => ({ compared: 1, breaks: [] }));
    await startWhenDue([aCheck(), others], 'check');
    const former = await readRun('others');
    await waitForFullRun();
    expect(scopes.map(({ since }) => since)).toEqual([null, null]);
    expect(await readRun('others')).toEqual(former);
    expect((await readFigures(database.db, ['check', 'others'])).fullAgeSeconds).toBeLessThan(
      3_600,
    );
    const other = await readFigures(database.db, ['former check']);
    expect(other.fullAgeSeconds).toBeNull();
  });

  test('holds up no incremental run, keeps what that has found meanwhile, and lets it go on where it was', async () => {
    const gate = Promise.withResolvers<void>();
    const check: Check = {
      name: 'check',
      run: async (scope) => {
        scopes.push(scope);
        if (scope.since !== null) return { compared: 1, breaks: [{ kind: 'state', id: 'late' }] };
        if (scopes.length > 1) await gate.promise;
        return { compared: 5, breaks: [] };
      },
    };
    const reconciliation = await startWhenDue([check], 'check');
    await eventually(() => expect(scopes).toHaveLength(2));
    const meanwhile = await reconciliation.runNow();
    expect(meanwhile.checks[0]?.breaks).toMatchObject([{ id: 'late' }]);
    await reconciliation.runNow();
    gate.resolve();
    await waitForFullRun();
    const after = await reconciliation.latest();
    expect(after.checks).toMatchObject([{ compared: 5, breaks: [{ id: 'late' }] }]);
    await reconciliation.runNow();
    const [, , second, third, fourth] = scopes.map(({ since }) => since?.getTime() ?? 0);
    expect(second).toBeLessThan(third ?? 0);
    expect(third).toBeLessThan(fourth ?? 0);
  });

  test('keeps a break that healed and came back while it ran', async () => {
    const gate = Promise.withResolvers<void>();
    const broken: FoundBreak[] = [{ kind: 'state', id: 'again' }];
    let breaks = broken;
    const check: Check = {
      name: 'check',
      run: async (scope) => {
        scopes.push(scope);
        if (scope.since !== null || scopes.length === 1) return { compared: 1, breaks };
        await gate.promise;
        return { compared: 5, breaks: [] };
      },
    };
    const reconciliation = await startWhenDue([check], 'check');
    await eventually(() =>
      expect(scopes.some(({ since }, run) => run > 0 && since === null)).toBe(true),
    );
    breaks = [];
    expect((await reconciliation.runNow()).checks).toMatchObject([{ breaks: [] }]);
    breaks = broken;
    await reconciliation.runNow();
    gate.resolve();
    await waitForFullRun();
    expect((await reconciliation.latest()).checks).toMatchObject([{ breaks: [{ id: 'again' }] }]);
  });

  test('that a process left behind is made by another, of what is still due', async () => {
    const others = aCheck('others', () => ({ compared: 1, breaks: [] }));
    await database.db.query(sql`
      update reconciliation_full_lease
      set started_at = now(), compared = 1, lease_token = gen_random_uuid(), lease_until = now() + interval '300 ms'`);
    await startWhenDue([aCheck(), others], 'others');
    await waitForFullRun();
    expect(scopes.map(({ since }) => since)).toEqual([null]);
  });

  test('that fails is a break until one succeeds, and is not made again before an interval has passed', async () => {
    let fails = false;
    const failing = aCheck('failing', () => {
      scopes.push({ since: null, knownIds: [], signal: AbortSignal.abort() });
      if (fails) throw new AppError('DEPENDENCY_UNAVAILABLE');
      return { compared: 1, breaks: [] };
    });
    const reconciliation = await startWhenDue([failing], 'failing', () => (fails = true));
    await waitForFullRun();
    fails = false;
    const unread = { kind: 'unavailable', id: 'failing/full', found: 'DEPENDENCY_UNAVAILABLE' };
    expect((await reconciliation.runNow()).checks[0]?.breaks).toMatchObject([unread]);
    const runs = scopes.length;
    expect(
      await takeFullLease(database.db, { ...PERIODS, token: newId(), names: ['failing'] }),
    ).toBeNull();
    await database.db.query(sql`
      update reconciliation_full_lease
      set started_at = started_at - interval '2 hours', finished_at = finished_at - interval '2 hours'`);
    await eventually(async () => {
      expect((await reconciliation.latest()).checks[0]?.breaks).toEqual([]);
    });
    expect(scopes).toHaveLength(runs + 1);
  });

  test('that has compared everything counts, also where its second comparison fails', async () => {
    let comparisons = 0;
    const check = aCheck('check', () => {
      comparisons += 1;
      if (comparisons > 1) throw new AppError('DEPENDENCY_UNAVAILABLE');
      return { compared: 1, breaks: [{ kind: 'state', id: 'a', changedAt: NEVER_IN_FLIGHT }] };
    });
    const reconciliation = start([check], { windowMs: 100 });
    const report = await reconciliation.requestFull();
    expect(comparisons).toBe(2);
    expect(report.checks[0]?.breaks).toMatchObject([{ kind: 'unavailable', id: 'check' }]);
  });

  test('is made again where more was found than is kept, and everything is a break until then', async () => {
    let found: FoundBreak[] = [];
    const check = aCheck('check', () => ({ compared: 1, breaks: found }));
    const reconciliation = start([check]);
    await reconciliation.runNow();
    found = Array.from({ length: BREAKS_MAX + 1 }, (_, index) => ({
      kind: 'state',
      id: `${index}`,
    }));
    await reconciliation.runNow();
    found = [];
    const incomplete = await reconciliation.runNow();
    expect(incomplete.checks[0]?.breaks).toMatchObject([{ kind: 'unavailable', id: 'check/full' }]);
    await eventually(async () => {
      expect((await reconciliation.latest()).checks[0]?.breaks).toEqual([]);
    });
  });
});

describe('a check that a release adds', () => {
  test('is compared by a full run, holds up no incremental one, and is not shown as clean before', async () => {
    const gate = Promise.withResolvers<void>();
    const before = start([aCheck()]);
    await before.runNow();
    await before[Symbol.asyncDispose]();
    const added = aCheck('added', async () => {
      await gate.promise;
      return { compared: 5, breaks: [] };
    });
    const reconciliation = start([aCheck(), added]);
    await eventually(async () => {
      const [row] = await database.db.query(
        sql`select started_at from reconciliation_full_lease where lease_until > now()`,
      );
      expect(row).toEqual({ started_at: expect.any(Date) });
    });
    const meanwhile = await reconciliation.runNow();
    expect(meanwhile.checks.map(({ name }) => name)).toEqual(['check']);
    gate.resolve();
    await waitForFullRun();
    const after = await reconciliation.runNow();
    expect(after.checks).toMatchObject([{ name: 'check' }, { name: 'added', compared: 5 }]);
  });
});

/** A service that has compared everything once is started again when one of its checks is old. */
async function startWhenDue(
  checks: Check[],
  oldCheck: string,
  meanwhile: () => unknown = () => undefined,
): Promise<Reconciliation> {
  const before = start(checks);
  await before.runNow();
  await before[Symbol.asyncDispose]();
  meanwhile();
  await database.db.query(
    sql`update reconciliation_runs set full_at = now() - interval '2 hours' where check_name = ${oldCheck}`,
  );
  return start(checks);
}

async function waitForFullRun(): Promise<void> {
  await eventually(async () => {
    const [row] = await database.db.query(sql`select finished_at from reconciliation_full_lease`);
    expect(row).toEqual({ finished_at: expect.any(Date) });
  });
}

async function readRun(check: string): Promise<object | undefined> {
  const rows = await database.db.query<object>(
    sql`select * from reconciliation_runs where check_name = ${check}`,
  );
  return rows[0];
}

function start(checks: Check[], { windowMs } = { windowMs: 0 }): Reconciliation {
  const reconciliation = startReconciliation({
    db: database.db,
    logger: createLogger('test', 'silent'),
    service: 'test',
    checks,
    ...PERIODS,
    windowMs,
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
      return { compared: 1, breaks: [] };
    },
  };
}
