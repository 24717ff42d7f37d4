import type { ReconciliationReport } from '@pixmesh/contracts/internal/reconciliation';
import { sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { type FoundBreak, NEVER_IN_FLIGHT, type Scope } from './check.ts';
import { type Reconciliation, startReconciliation } from './reconciliation.ts';

const HOUR_MS = 3_600_000;

let database: TestDatabase;
let reconciliation: Reconciliation;
let found: FoundBreak[];
let scopes: Scope[];

beforeEach(async () => {
  database = await createTestDatabase('charges');
  await database.db.query(sql`update reconciliation_lease set due_at = 'infinity'`);
  scopes = [];
});
afterEach(async () => {
  await reconciliation[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

test('a bounded number of differences is kept, and with more of them that everything has to be compared', async () => {
  found = manyBreaks(null);
  start({ windowMs: 0 });
  const report = await reconciliation.runNow();
  const kinds = Map.groupBy(report.checks[0]?.breaks ?? [], ({ kind }) => kind);
  expect(kinds.get('state')).toHaveLength(1_000);
  expect(kinds.get('unavailable')).toMatchObject([{ id: 'check/full' }]);
});

test('a known difference that is left out has not healed', async () => {
  found = [aBreak('known', null)];
  start({ windowMs: 0 });
  await reconciliation.runNow();
  found = [...manyBreaks(null), aBreak('known', null)];
  const report = await reconciliation.runNow();
  expect(report.checks[0]?.breaks.map(({ id }) => id)).toContain('known');
});

test('where all that was left out is inside its window, the next run goes back to its beginning', async () => {
  const changedAt = new Date();
  found = manyBreaks(changedAt);
  start({ windowMs: 60_000 });
  await reconciliation.runNow();
  await reconciliation.runNow();
  const [first, second] = scopes;
  expect(first?.since).toBeNull();
  expect(second?.since?.getTime()).toBeLessThan(changedAt.getTime() - 60_000);
});

test('what is inside its window is left out before what is past it', async () => {
  found = [...manyBreaks(new Date(Date.now() + HOUR_MS)), aBreak('old', NEVER_IN_FLIGHT)];
  start({ windowMs: 300 });
  await reconciliation.runNow();
  expect(scopes.map(({ knownIds }) => knownIds)).toEqual([[], ['old']]);
});

test('what a second comparison finds again and does not keep has not healed', async () => {
  found = Array.from({ length: 900 }, (_, index) => aBreak(`first ${index}`, NEVER_IN_FLIGHT));
  const first = found;
  start({ windowMs: 300 }, () => {
    if (scopes.length === 2) found = [...manyBreaks(NEVER_IN_FLIGHT), ...first];
  });
  const report = await reconciliation.runNow();
  const stored = await database.db.query<{ id: string }>(
    sql`select id from reconciliation_breaks where id like 'first %'`,
  );
  expect(stored).toHaveLength(900);
  expect(report.checks[0]?.breaks.map(({ id }) => id)).toContain('check/full');
});

test('that there are too many keeps its age, however often everything is compared', async () => {
  found = manyBreaks(null);
  start({ windowMs: 0 });
  const since = sinceOfFull(await reconciliation.requestFull());
  expect(sinceOfFull(await reconciliation.requestFull())).toBe(since);

  function sinceOfFull({ checks }: ReconciliationReport): string | undefined {
    return checks[0]?.breaks.find(({ id }) => id === 'check/full')?.since;
  }
});

function manyBreaks(changedAt: Date | null): FoundBreak[] {
  return Array.from({ length: 1_500 }, (_, index) => aBreak(`${index}`, changedAt));
}

function aBreak(id: string, changedAt: Date | null): FoundBreak {
  return { kind: 'state', id, changedAt };
}

function start({ windowMs }: { windowMs: number }, onRun: () => void = () => undefined): void {
  const run = (scope: Scope) => {
    scopes.push(scope);
    onRun();
    return Promise.resolve({ compared: 1, breaks: found });
  };
  reconciliation = startReconciliation({
    db: database.db,
    logger: createLogger('test', 'silent'),
    service: 'test',
    checks: [{ name: 'check', run }],
    intervalMs: HOUR_MS,
    fullIntervalMs: HOUR_MS,
    windowMs,
  });
}
