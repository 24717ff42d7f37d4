import { type AccountBreak, TOO_MANY } from '@pixmesh/contracts/internal/account-breaks';
import { newId, type OperatorId } from '@pixmesh/kernel/ids';
import { createLogger } from '@pixmesh/telemetry/logger';
import { eventually } from '@pixmesh/testkit/eventually';
import { scaled } from '@pixmesh/testkit/long-runs';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { countStops, listStops, type StopRow } from './payout-stops.sql.ts';
import { stopAtBreaks } from './stop-at-breaks.ts';
import type { SeenBreak } from './stop-breaks.sql.ts';
import { resumePayouts, stopPayouts } from './stop-payouts.ts';
import { startBreakWatch } from './watch-breaks.job.ts';

let database: TestDatabase;
let lines: string[];
beforeAll(async () => {
  database = await createTestDatabase('payouts');
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
});

const RACES = scaled(5, 200);
const operatorId = newId<OperatorId>();

function deps() {
  lines = [];
  const logger = createLogger('payouts', 'warn', { write: (line) => void lines.push(line) });
  return { db: database.db, logger, wakeSender: () => undefined };
}

const see = (...breaks: SeenBreak[]) => stopAtBreaks(deps(), breaks);
const resume = (accountId: string | null) => resumePayouts(deps(), { accountId, operatorId });

function aBreak(changes: Partial<SeenBreak> = {}): SeenBreak {
  return {
    service: 'charges',
    check: 'received',
    kind: 'missing_left',
    id: newId(),
    account_id: newId(),
    since: new Date().toISOString(),
    ...changes,
  };
}

/** All stops of an account, newest first. */
async function stopsOf({ account_id: accountId }: SeenBreak): Promise<StopRow[]> {
  const filters = { accountId: accountId ?? undefined, status: undefined };
  const stops = await listStops(database.db, filters, { limit: 100, startingAfter: null });
  return stops.filter((stop) => stop.accountId === accountId);
}

const inForce = async (seen: SeenBreak) =>
  (await stopsOf(seen)).filter(({ endedAt }) => endedAt === null).length;

describe('a break that says that the books disagree', () => {
  test('stops payouts of its account once, names itself, and is logged', async () => {
    const seen = aBreak();
    await see(seen);
    expect(lines.join('')).toContain(`"account_id":"${seen.account_id}"`);
    expect(lines.join('')).toContain('payouts stopped');
    await see(seen);
    expect(lines).toEqual([]);
    const { service, check, kind, id, since } = seen;
    expect(await stopsOf(seen)).toMatchObject([
      {
        setBy: 'reconciliation',
        reason: `reconciliation of charges: received missing_left ${id}`,
        endedAt: null,
        breaks: [{ service, check, kind, id, since }],
      },
    ]);
  });

  test('that heals leaves the stop in force: only an operator ends it', async () => {
    const seen = aBreak();
    await see(seen);
    await see();
    expect(await inForce(seen)).toBe(1);
    await resume(seen.account_id);
    expect(await inForce(seen)).toBe(0);
  });

  test('does not stop again after an operator has ended its stop, for as long as it lasts', async () => {
    const seen = aBreak();
    await see(seen);
    await resume(seen.account_id);
    await see(seen);
    expect(await inForce(seen)).toBe(0);
  });

  test('stops again when it has healed and come back, and so does another one', async () => {
    const seen = aBreak();
    await see(seen);
    await resume(seen.account_id);
    await see({ ...seen, since: new Date(Date.now() + 60_000).toISOString() });
    expect(await inForce(seen)).toBe(1);
    await resume(seen.account_id);
    await see(seen, { ...seen, id: newId() });
    expect(await stopsOf(seen)).toHaveLength(3);
  });

  test('joins a stop that is in force, that of an operator too, and ends with it', async () => {
    const seen = aBreak();
    const { account_id: accountId } = seen;
    await stopPayouts(deps(), { accountId, reason: 'by hand', operatorId });
    await see(seen);
    expect(await stopsOf(seen)).toMatchObject([{ reason: 'by hand', breaks: [{ id: seen.id }] }]);
    await resume(accountId);
    await see(seen);
    expect(await inForce(seen)).toBe(0);
  });

  test('of many at once makes one stop, which shows the oldest twenty', async () => {
    const accountId = newId();
    const all = Array.from({ length: 30 }, (_, index) =>
      aBreak({ account_id: accountId, since: new Date(index * 1_000).toISOString() }),
    );
    await see(...all);
    const [stop, ...others] = await stopsOf(all[0]!);
    expect(others).toEqual([]);
    expect(stop?.breaks.map(({ id }) => id)).toEqual(all.slice(0, 20).map(({ id }) => id));
  });
});

test.each([
  ['an outcome that is on its way', { kind: 'unbooked' }],
  ['a Pix that was not recorded', { kind: 'missing_right' }],
  ['a check of something else', { check: 'outbox', kind: 'gap' }],
  ['a side that could not be read', { kind: 'unavailable' }],
])('%s stops nothing', async (_name, changes) => {
  const seen = aBreak(changes);
  await see(seen);
  expect(await stopsOf(seen)).toEqual([]);
});

test('more breaks of a check than are kept stop payouts of all accounts', async () => {
  const seen = aBreak({ kind: TOO_MANY, id: 'received', account_id: null });
  await see(seen);
  expect(await inForce(seen)).toBe(1);
  expect(await countStops(database.db)).toContainEqual({
    cause: 'reconciliation',
    count: expect.any(Number) as number,
  });
  await resume(null);
});

test('processes that see a break at once stop once, and never again after an operator has ended it', async () => {
  for (let race = 0; race < RACES; race += 1) {
    const seen = aBreak();
    await Promise.all(Array.from({ length: 10 }, () => see(seen)));
    expect(await stopsOf(seen)).toHaveLength(1);
    await Promise.all([resume(seen.account_id), ...Array.from({ length: 10 }, () => see(seen))]);
    expect(await stopsOf(seen)).toHaveLength(1);
    expect(await inForce(seen)).toBe(0);
  }
});

test('a service that does not answer hides no break of another', async () => {
  const { service, ...seen } = aBreak();
  const sources = {
    away: () => Promise.reject<AccountBreak[]>(new Error('away')),
    [service]: () => Promise.resolve([seen]),
  };
  await using watch = startBreakWatch({ ...deps(), sources });
  await eventually(async () => expect(await inForce({ service, ...seen })).toBe(1));
  expect(watch.isAlive()).toBe(true);
  await eventually(() => expect(lines.join('')).toContain('job failed, retrying'));
});
