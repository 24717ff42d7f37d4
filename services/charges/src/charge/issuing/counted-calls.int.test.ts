import type { IssueOutcome } from '@pixmesh/acquirer/acquirer';
import { sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { leaseProcessingCharge } from '#charge/charge-checks.sql.ts';
import type { ChargeRow } from '#charge/charge-row.ts';
import { countCall, findAnyCharge } from '#charge/charges.sql.ts';
import { createChargeMoves } from '#charge/move-charges.sql.ts';
import { aNewCharge } from '#test/a-new-charge.ts';
import { RECEIVER } from '#test/charges-under-test.ts';

import { checkIssuing } from './check-issuing.ts';
import { issueCharge } from './issue-charge.ts';
import type { IssuingDeps } from './issuing-deps.ts';

const MINUTE_MS = 60_000;
const REFUSED = { kind: 'refused', code: 'valor_invalido', message: 'no' } as const;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase('charges');
});
afterAll(() => database[Symbol.asyncDispose]());

function theDeps(acquirer: Partial<IssuingDeps['acquirer']>): IssuingDeps {
  const deps: Partial<IssuingDeps> = {
    db: database.db,
    moves: createChargeMoves(database.db),
    logger: createLogger('charges', 'silent'),
    receiver: RECEIVER,
    wakeOutbox: () => undefined,
    acquirerTimeoutMs: 1_000,
    giveUpMs: MINUTE_MS,
    pendingChecks: { firstMs: 1_000, maxMs: 1_000 },
    acquirer: acquirer as IssuingDeps['acquirer'],
  };
  return deps as IssuingDeps;
}

/** The lease of the first process is over; another one takes the charge and counts a call that stays unanswered. */
async function callElsewhere(charge: ChargeRow): Promise<void> {
  await database.db.query(
    sql`update charges set lease_until = now() - interval '1 second' where id = ${charge.id}`,
  );
  const leased = await leaseProcessingCharge(database.db, charge.id, MINUTE_MS);
  if (leased === null) throw new Error('the lease is not over');
  expect(await countCall(database.db, leased)).not.toBeNull();
}

async function stored(charge: ChargeRow): Promise<ChargeRow | null> {
  return await findAnyCharge(database.db, charge.id);
}

test('a refusal is no failure where another process has called meanwhile and knows nothing', async () => {
  const charge = await aNewCharge(database.db);
  const issue = async (): Promise<IssueOutcome> => {
    await callElsewhere(charge);
    return REFUSED;
  };
  const after = await issueCharge(theDeps({ issueCharge: issue }), charge, {
    count: () => Promise.resolve({ row: charge, formerCallAt: null }),
    expiresInSeconds: 3_600,
    callBeforeMs: Number.POSITIVE_INFINITY,
  });
  expect(after.status).toBe('processing');
  expect(await stored(charge)).toMatchObject({
    status: 'processing',
    unansweredCalls: 2,
    uncountedRefusal: 'valor_invalido: no',
  });
});

test('a refusal that has waited for its time ends nothing where a call was counted since it was read', async () => {
  const charge = await aNewCharge(database.db);
  await database.db.query(sql`
    update charges
    set last_put_at = now() - interval '1 hour', uncounted_refusal = 'valor_invalido: no'
    where id = ${charge.id}`);
  const read = await stored(charge);
  if (read === null) throw new Error('the charge vanished');
  const getCharge = async () => {
    await callElsewhere(charge);
    return { kind: 'not_found' } as const;
  };
  await checkIssuing(theDeps({ getCharge }), read, Number.POSITIVE_INFINITY);
  expect(await stored(charge)).toMatchObject({ status: 'processing', unansweredCalls: 2 });
});

test('a process that has lost its lease counts no call, so that it makes none', async () => {
  const charge = await aNewCharge(database.db);
  await callElsewhere(charge);
  expect(await countCall(database.db, charge)).toBeNull();
  expect(await stored(charge)).toMatchObject({ unansweredCalls: 2 });
});
