import type { IssueOutcome } from '@pixmesh/acquirer/acquirer';
import { createLogger } from '@pixmesh/telemetry/logger';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, expect, test } from 'vitest';

import type { ChargeRow } from '#charge/charge-row.ts';
import { countCall, findAnyCharge } from '#charge/charges.sql.ts';
import { createChargeMoves } from '#charge/move-charges.sql.ts';
import { aNewCharge } from '#test/a-new-charge.ts';
import { RECEIVER } from '#test/charges-under-test.ts';

import { issueCharge } from './issue-charge.ts';
import type { IssuingDeps } from './issuing-deps.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase('charges');
});
afterAll(() => database[Symbol.asyncDispose]());

type Options = { lastCallAt: Date | null; callBeforeMs: number };

/** One counted call whose answer is given. */
async function issue(
  charge: ChargeRow,
  answer: IssueOutcome,
  { lastCallAt = null, callBeforeMs = Number.POSITIVE_INFINITY }: Partial<Options> = {},
) {
  const deps: Partial<IssuingDeps> = {
    db: database.db,
    moves: createChargeMoves(database.db),
    logger: createLogger('charges', 'silent'),
    receiver: RECEIVER,
    wakeOutbox: () => undefined,
    acquirer: { issueCharge: () => Promise.resolve(answer) } as unknown as IssuingDeps['acquirer'],
  };
  return await issueCharge(deps as IssuingDeps, charge, {
    count: () => Promise.resolve({ row: charge, formerCallAt: lastCallAt }),
    expiresInSeconds: 3_600,
    callBeforeMs,
  });
}

const REFUSED = { kind: 'refused', code: 'valor_invalido', message: 'no' } as const;

async function counted(charge: ChargeRow): Promise<ChargeRow> {
  const after = await countCall(database.db, charge);
  if (after === null) throw new Error('the charge has moved');
  return after.row;
}

test.each(['breaker_open', 'token_timeout', 'no_turn:late'])(
  'a first call that never left (%s) is not counted, and the refusal of the next one fails the charge at once',
  async (cause) => {
    const charge = await aNewCharge(database.db);
    const after = await issue(charge, { kind: 'unknown', cause });
    expect(after).toMatchObject({ status: 'processing', unansweredCalls: 0, lastCallAt: null });
    expect(await findAnyCharge(database.db, charge.id)).toMatchObject({
      unansweredCalls: 0,
      lastCallAt: null,
    });
    const ended = await issue(await counted(after), REFUSED);
    expect(ended).toMatchObject({ status: 'failed', failureReason: 'valor_invalido: no' });
  },
);

test('an unknown call stays counted, and the time of it stands, whatever never left after it', async () => {
  const charge = await aNewCharge(database.db);
  const unknown = await issue(charge, { kind: 'unknown', cause: 'timeout' });
  const { lastCallAt } = unknown;
  expect(unknown).toMatchObject({ unansweredCalls: 1, lastCallAt: expect.any(Date) });
  const never = { kind: 'unknown', cause: 'breaker_open' } as const;
  const after = await issue(await counted(unknown), never, { lastCallAt });
  expect(after).toMatchObject({ unansweredCalls: 1, lastCallAt });
  await issue(await counted(after), REFUSED, { lastCallAt });
  expect(await findAnyCharge(database.db, charge.id)).toMatchObject({
    status: 'processing',
    unansweredCalls: 2,
    uncountedRefusal: 'valor_invalido: no',
  });
});

test('what was counted meanwhile is not taken off with it', async () => {
  const charge = await aNewCharge(database.db);
  await counted(charge);
  const after = await issue(charge, { kind: 'unknown', cause: 'breaker_open' });
  expect(after.unansweredCalls).toBe(1);
  expect((await findAnyCharge(database.db, charge.id))?.unansweredCalls).toBe(2);
});

test('a call is not made by a process that slept past its lease, and counts as never made', async () => {
  const charge = await aNewCharge(database.db);
  const after = await issue(charge, REFUSED, { callBeforeMs: performance.now() });
  expect(after).toMatchObject({ status: 'processing', unansweredCalls: 0, lastCallAt: null });
});
