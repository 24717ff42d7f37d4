import type { ReconciliationReport } from '@pixmesh/contracts/internal/reconciliation';
import { sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { type FoundBreak, NEVER_IN_FLIGHT, type Scope } from './check.ts';
import { BREAKS_MAX } from './choose-kept.ts';
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

test('what is kept of a check does not grow, however many others each run finds beside it', async () => {
  found = manyBreaks(null);
  start({ windowMs: 0 });
  await reconciliation.runNow();
  const before = await storedIds();
  for (const place of ['first page', 'second page']) {
    found = [...manyBreaks(null, place), ...before.map((id) => aBreak(id, null))];
    await reconciliation.runNow();
  }
  expect(await storedIds()).toEqual(before);
});

test('a new difference that finds no room has everything compared again', async () => {
  found = [aBreak('new', null)];
  start({ windowMs: 0 }, () => fill());
  const report = await reconciliation.runNow();
  const ids = report.checks[0]?.breaks.map(({ id }) => id);
  expect(ids).toContain('check/full');
  expect(ids).not.toContain('new');

  /** As another run does meanwhile. */
  async function fill(): Promise<void> {
    await database.db.query(sql`
      insert into reconciliation_breaks (check_name, kind, id, is_pending)
      select 'check', 'state', 'other ' || number, false from generate_series(1, ${BREAKS_MAX}) as number`);
  }
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

function manyBreaks(changedAt: Date | null, prefix = ''): FoundBreak[] {
  return Array.from({ length: 1_500 }, (_, index) => aBreak(`${prefix}${index}`, changedAt));
}

async function storedIds(): Promise<string[]> {
  const rows = await database.db.query<{ id: string }>(
    sql`select id from reconciliation_breaks where kind = 'state' order by id`,
  );
  return rows.map(({ id }) => id);
}

function aBreak(id: string, changedAt: Date | null): FoundBreak {
  return { kind: 'state', id, changedAt };
}

function start(
  { windowMs }: { windowMs: number },
  onRun: () => void | Promise<void> = () => undefined,
): void {
  const run = async (scope: Scope) => {
    scopes.push(scope);
    await onRun();
    return { compared: 1, breaks: found };
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
