import { ACCOUNT_BREAKS_PATH, AccountBreaks } from '@pixmesh/contracts/internal/account-breaks';
import { createServiceApp } from '@pixmesh/http/service-app';
import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { type FoundBreak, NEVER_IN_FLIGHT } from './check.ts';
import { type Reconciliation, startReconciliation } from './reconciliation.ts';
import { registerReconciliationRoutes } from './reconciliation-routes.ts';

const NEVER_MS = 3_600_000;
const logger = createLogger('test', 'silent');

let database: TestDatabase;
let reconciliation: Reconciliation;
let found: FoundBreak[];

beforeEach(async () => {
  database = await createTestDatabase('charges');
  await database.db.query(sql`update reconciliation_lease set due_at = 'infinity'`);
  found = [];
});
afterEach(async () => {
  await reconciliation[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

function start(windowMs = 0): void {
  reconciliation = startReconciliation({
    db: database.db,
    logger,
    service: 'test',
    checks: [{ name: 'check', run: () => Promise.resolve({ compared: 1, breaks: found }) }],
    intervalMs: NEVER_MS,
    fullIntervalMs: NEVER_MS,
    windowMs,
  });
}

function aBreak(id: string, accountId: string | null = newId()): FoundBreak {
  return { kind: 'amount', id, accountId, changedAt: NEVER_IN_FLIGHT };
}

test('breaks that name an account are shown with it, those that name none and the public report are not', async () => {
  start();
  const named = aBreak('named');
  found = [named, aBreak('alone', null)];
  const report = await reconciliation.runNow();
  const app = createServiceApp({ logger, listener: 'internal' });
  registerReconciliationRoutes(app, reconciliation);
  const answer = await app.inject({ method: 'GET', url: ACCOUNT_BREAKS_PATH });
  const [{ since } = { since: '' }] = report.checks[0]?.breaks ?? [];
  expect(AccountBreaks.parse(answer.json()).breaks).toEqual([
    { check: 'check', kind: 'amount', id: 'named', account_id: named.accountId, since },
  ]);
  expect(JSON.stringify(report)).not.toContain(named.accountId);
  await app.close();
});

test('a difference that is no break yet is not among them', async () => {
  start(NEVER_MS);
  found = [{ ...aBreak('young'), changedAt: new Date() }];
  await reconciliation.runNow();
  expect(await reconciliation.accountBreaks()).toEqual([]);
});

test('a flood of others hides none, and a flood of them stands as one break of all accounts', async () => {
  start();
  const others = Array.from({ length: 1_500 }, (_, index) => aBreak(`other-${index}`, null));
  found = [...others, aBreak('last')];
  await reconciliation.runNow();
  expect((await reconciliation.accountBreaks()).map(({ id }) => id)).toEqual(['last']);
  found = Array.from({ length: 1_500 }, (_, index) => aBreak(`one-${index}`));
  await reconciliation.runNow();
  const breaks = await reconciliation.accountBreaks();
  expect(breaks).toHaveLength(1_001);
  expect(breaks).toContainEqual({
    check: 'check',
    kind: 'too_many',
    id: 'check',
    account_id: null,
    since: expect.any(String) as string,
  });
});

test('one that is found after a flood of others is kept beside them', async () => {
  start();
  const others = Array.from({ length: 1_500 }, (_, index) => aBreak(`other-${index}`, null));
  found = others;
  await reconciliation.runNow();
  found = [...others, aBreak('late')];
  await reconciliation.runNow();
  expect((await reconciliation.accountBreaks()).map(({ id }) => id)).toEqual(['late']);
});

test('a flood that grows is a new break each time; one that stays, shrinks or comes back is none', async () => {
  start();
  const flood = Array.from({ length: 1_500 }, (_, index) => aBreak(`one-${index}`));
  const sinces: string[] = [];
  for (const run of [flood, flood, flood.slice(1), flood, [...flood, aBreak('new')]]) {
    found = run;
    await reconciliation.runNow();
    const breaks = await reconciliation.accountBreaks();
    sinces.push(breaks.find(({ kind }) => kind === 'too_many')?.since ?? '');
  }
  expect(new Set(sinces.slice(0, 4)).size).toBe(1);
  expect(Date.parse(sinces[4] ?? '')).toBeGreaterThan(Date.parse(sinces[0] ?? ''));
});
