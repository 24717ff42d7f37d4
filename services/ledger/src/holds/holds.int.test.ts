import assert from 'node:assert';

import { armFailpoints } from '@pixmesh/service/failpoints';
import { newId } from '@pixmesh/kernel/ids';
import { injectedCall } from '@pixmesh/testkit/injected-peers';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { auditBooks } from '#test/audit-books.sql.ts';
import { countAllRows, readBalances } from '#test/read-ledger.ts';
import { aLedgerApp, type LedgerApp } from '#test/ledger-app.ts';
import {
  aReceivedPixCredit,
  anEndToEndId,
  aHoldRelease,
  aHoldSettle,
  handle,
  type HoldRef,
} from '#test/ledger-messages.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let ledger: LedgerApp;

beforeAll(async () => {
  database = await createTestDatabase('ledger');
  ledger = await aLedgerApp(database.db);
});
afterEach(async () => {
  armFailpoints({});
  assert.deepEqual(await auditBooks(database.db), []);
});
afterAll(async () => {
  await ledger.app.close();
  await ledger.engine.stop();
  await database[Symbol.asyncDispose]();
});

type Wanted = HoldRef & { kind: string; amount: number; fee: number; endToEndId?: string };

describe('PUT /internal/holds/{id}', () => {
  test('takes amount and fee before it answers, and shows in the balance at once', async () => {
    const hold = aHold({ accountId: await funded(5_000), amount: 1_000, fee: 25 });
    const answer = await take(hold);
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual({
      hold_id: hold.holdId,
      outcome: 'held',
      reason: null,
      state: 'open',
    });
    const balance = await ledger.get('/v1/balance', { accountId: hold.accountId });
    expect(balance.json()).toMatchObject({ available: 3_975, pending: 0, total: 3_975 });
  });

  test('takes exactly what there is, amount and fee together (decision 114)', async () => {
    const accountId = await funded(1_025);
    expect(await outcomeOf(aHold({ accountId, amount: 1_000, fee: 26 }))).toMatchObject({
      outcome: 'refused',
      reason: 'insufficient_balance',
      state: 'refused',
    });
    expect(await outcomeOf(aHold({ accountId, amount: 1_000, fee: 25 }))).toMatchObject({
      outcome: 'held',
    });
    expect(await readBalances(database.db, accountId)).toMatchObject({ held: 1_025 });
  });

  test('publishes nothing: it is answered by HTTP', async () => {
    const hold = aHold({ accountId: await funded(5_000) });
    const [, , , events, outbox] = await countAllRows(database.db);
    await take(hold);
    await end(hold, 'void');
    const after = await countAllRows(database.db);
    expect([after[3], after[4]]).toEqual([events, outbox]);
  });

  test('a repeat is answered the same and moves nothing, in any case of the ids', async () => {
    const hold = aHold({ accountId: await funded(5_000) });
    const first = await take(hold);
    const rows = await countAllRows(database.db);
    const repeat = await take({ ...hold, holdId: hold.holdId.toUpperCase() });
    expect(repeat.json()).toEqual(first.json());
    const shouted = { ...hold, accountId: hold.accountId.toUpperCase() };
    expect((await take(shouted)).json()).toEqual(first.json());
    expect(await countAllRows(database.db)).toEqual(rows);
  });

  test('a repeat shows what has become of the hold since', async () => {
    const hold = aHold({ accountId: await funded(5_000) });
    await take(hold);
    await handle(ledger.engine, aHoldSettle(hold));
    expect(await outcomeOf(hold)).toMatchObject({ outcome: 'held', state: 'settled' });
  });

  test.each([
    ['account', { accountId: newId() }],
    ['resource', { resourceId: newId() }],
    ['kind and Pix', { kind: 'refund', endToEndId: anEndToEndId() }],
    ['amount', { amount: 999 }],
    ['fee', { fee: 1 }],
  ])('the same id with another %s is a conflict', async (_name, change) => {
    const hold = aHold({ accountId: await funded(5_000) });
    await take(hold);
    const rows = await countAllRows(database.db);
    const answer = await take({ ...hold, ...change });
    expect(answer.statusCode).toBe(409);
    expect(answer.json()).toMatchObject({ code: 'CONFLICT', details: [] });
    expect(await countAllRows(database.db)).toEqual(rows);
  });

  test('a second hold of a payout that is held or paid is refused, until it is released', async () => {
    const accountId = await funded(5_000);
    const first = aHold({ accountId });
    const { resourceId } = first;
    await take(first);
    expect(await outcomeOf(aHold({ accountId, resourceId }))).toMatchObject({
      outcome: 'refused',
      reason: 'resource_held',
    });
    await handle(ledger.engine, aHoldRelease(first));
    const second = aHold({ accountId, resourceId });
    expect(await outcomeOf(second)).toMatchObject({ outcome: 'held' });
    await handle(ledger.engine, aHoldSettle(second));
    expect(await outcomeOf(aHold({ accountId, resourceId }))).toMatchObject({
      reason: 'resource_held',
    });
  });

  test('of 100 at the same time exactly as many are held as there is money for', async () => {
    const accountId = await funded(3_700);
    const holds = Array.from({ length: 100 }, () => aHold({ accountId, amount: 90, fee: 10 }));
    const answers = await Promise.all(holds.map((hold) => outcomeOf(hold)));
    expect(answers.filter(({ outcome }) => outcome === 'held')).toHaveLength(37);
    expect(await readBalances(database.db, accountId)).toMatchObject({ held: 3_700 });
    const again = await Promise.all(holds.map((hold) => outcomeOf(hold)));
    expect(again).toEqual(answers);
  });

  test('a crash after the commit is answered as a failure, and the repeat with the outcome', async () => {
    const hold = aHold({ accountId: await funded(5_000) });
    armFailpoints({ 'ledger.hold.after-commit': 'error' });
    expect((await take(hold)).statusCode).toBe(500);
    expect(await outcomeOf(hold)).toMatchObject({ outcome: 'held', state: 'open' });
    expect(await readBalances(database.db, hold.accountId)).toMatchObject({ held: 1_000 });
  });
});

describe('POST /internal/holds/{id}/void', () => {
  test('before the hold keeps it from being taken for ever', async () => {
    const hold = aHold({ accountId: await funded(5_000) });
    expect((await end(hold, 'void')).json()).toEqual({
      hold_id: hold.holdId,
      outcome: 'voided',
      state: 'voided',
    });
    for (let times = 0; times < 2; times += 1) {
      expect(await outcomeOf(hold)).toEqual({
        hold_id: hold.holdId,
        outcome: 'refused',
        reason: 'voided',
        state: 'voided',
      });
    }
    expect(await readBalances(database.db, hold.accountId)).toMatchObject({ available: 5_000 });
  });

  test('after the hold says that it is held, and returns nothing', async () => {
    const hold = aHold({ accountId: await funded(5_000) });
    await take(hold);
    expect((await end(hold, 'void')).json()).toMatchObject({
      outcome: 'already_held',
      state: 'open',
    });
    await handle(ledger.engine, aHoldRelease(hold));
    expect((await end(hold, 'void')).json()).toMatchObject({
      outcome: 'already_held',
      state: 'released',
    });
  });

  test('of a refused hold says that nothing is held', async () => {
    const hold = aHold({ accountId: newId() });
    await take(hold);
    expect((await end(hold, 'void')).json()).toMatchObject({ outcome: 'voided', state: 'refused' });
  });

  test('of another account or resource is a conflict', async () => {
    const hold = aHold({ accountId: await funded(5_000) });
    await take(hold);
    expect((await end({ ...hold, accountId: newId() }, 'void')).statusCode).toBe(409);
    expect((await end({ ...hold, resourceId: newId() }, 'void')).statusCode).toBe(409);
  });

  test('raced against its hold leaves one of them', async () => {
    const accountId = await funded(1_000_000);
    const holds = Array.from({ length: 100 }, () => aHold({ accountId, amount: 100 }));
    const raced = await Promise.all(
      holds.map((hold, at) =>
        at % 2 === 0
          ? Promise.all([outcomeOf(hold), voidOutcomeOf(hold)])
          : Promise.all([voidOutcomeOf(hold), outcomeOf(hold)]).then(([one, two]) => [two, one]),
      ),
    );
    for (const [taken, voided] of raced) {
      expect([taken?.outcome, voided?.outcome]).toBeOneOf([
        ['held', 'already_held'],
        ['refused', 'voided'],
      ]);
    }
  });
});

describe('a release before its hold', () => {
  test('takes nothing, and the hold is refused afterwards', async () => {
    const hold = aHold({ accountId: await funded(5_000) });
    await handle(ledger.engine, aHoldRelease(hold));
    expect(await outcomeOf(hold)).toEqual({
      hold_id: hold.holdId,
      outcome: 'refused',
      reason: 'voided',
      state: 'released',
    });
    const found = await ledger.get(`/internal/holds/${hold.holdId}`, { accountId: null });
    expect(found.json()).toMatchObject({ state: 'released', kind: null, amount: 0, fee: 0 });
  });
});

describe('GET /internal/holds', () => {
  test('pages through all holds of a state and kind, ordered by id', async () => {
    const accountId = newId();
    const pix = aReceivedPixCredit({ accountId, amount: 100_000 });
    await handle(ledger.engine, pix);
    const refund = { kind: 'refund', endToEndId: pix.data.end_to_end_id };
    const before = new Set(await idsOf('state=open&kind=refund'));
    const holds = Array.from({ length: 7 }, (_, at) =>
      aHold({ accountId, ...(at % 2 === 0 ? refund : {}) }),
    );
    for (const hold of holds) await take(hold);
    await handle(ledger.engine, aHoldSettle(holds[0]!));
    const found = await idsOf('state=open&kind=refund&limit=2');
    const mine = found.filter((id) => !before.has(id));
    expect(mine).toEqual([2, 4, 6].map((at) => holds[at]!.holdId).toSorted());
    expect(await idsOf('state=settled&kind=refund')).toContain(holds[0]!.holdId);
    expect(found).toEqual(found.toSorted());
  });

  test('shows a hold as it was taken', async () => {
    const hold = aHold({ accountId: await funded(5_000), amount: 321, fee: 4 });
    await take(hold);
    const found = await ledger.get(`/internal/holds/${hold.holdId}`, { accountId: null });
    expect(found.json()).toEqual({
      hold_id: hold.holdId,
      account_id: hold.accountId,
      resource_id: hold.resourceId,
      kind: 'payout',
      amount: 321,
      fee: 4,
      state: 'open',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
  });

  test.each(['state=closed', 'kind=pix', 'limit=0', 'limit=1001', 'limit=x', 'starting_after=x'])(
    '%s names the parameter',
    async (query) => {
      const answer = await ledger.get(`/internal/holds?${query}`, { accountId: null });
      expect(answer.statusCode).toBe(400);
      const details = [query.split('=')[0]];
      expect(answer.json()).toMatchObject({ code: 'VALIDATION_ERROR', details });
    },
  );

  test('an unknown or ill-formed hold is not found', async () => {
    for (const id of [newId(), 'x']) {
      const answer = await ledger.get(`/internal/holds/${id}`, { accountId: null });
      expect(answer.statusCode).toBe(404);
      expect(answer.json()).toMatchObject({ code: 'NOT_FOUND' });
    }
  });
});

describe('bad input stores nothing', () => {
  test.each([
    ['account_id', { account_id: 'x' }],
    ['resource_id', { resource_id: null }],
    ['kind', { kind: 'pix' }],
    ['amount', { amount: 0 }],
    ['amount', { amount: -1 }],
    ['amount', { amount: 1.5 }],
    ['amount', { amount: '100' }],
    ['amount', { amount: 1_000_000_000_000 }],
    ['fee', { fee: -1 }],
    ['fee', { fee: undefined }],
  ])('a wrong %s is named (%o)', async (name, change) => {
    const hold = aHold({ accountId: await funded(5_000) });
    const rows = await countAllRows(database.db);
    const answer = await ledger.send('PUT', pathOf(hold), { ...bodyOf(hold), ...change });
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toMatchObject({ code: 'VALIDATION_ERROR', details: [name] });
    expect(await countAllRows(database.db)).toEqual(rows);
  });

  test.each(['', '[]', '{', 'null'])('the body %j is refused', async (body) => {
    const answer = await ledger.send('PUT', `/internal/holds/${newId()}`, body);
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toMatchObject({ code: 'VALIDATION_ERROR', details: ['body'] });
  });

  test('a body with a content coding is not read', async () => {
    const hold = aHold({ accountId: newId() });
    const route = `PUT ${pathOf(hold)}`;
    const call = injectedCall('ledger', { route, caller: null, body: bodyOf(hold) });
    const headers = { ...call.headers, 'content-encoding': 'gzip' };
    const answer = await ledger.app.inject({ ...call, headers });
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toMatchObject({ details: ['content-encoding'] });
  });

  test('an ill-formed hold id is not found', async () => {
    const hold = aHold({ accountId: newId() });
    const answer = await ledger.send('PUT', '/internal/holds/not-a-uuid', bodyOf(hold));
    expect(answer.statusCode).toBe(404);
    const voided = await ledger.send('POST', '/internal/holds/not-a-uuid/void', bodyOf(hold));
    expect(voided.statusCode).toBe(404);
  });

  test('a call without claims is refused', async () => {
    const hold = aHold({ accountId: newId() });
    const payload = JSON.stringify(bodyOf(hold));
    const answer = await ledger.app.inject({ method: 'PUT', url: pathOf(hold), payload });
    expect(answer.statusCode).toBe(403);
  });
});

function aHold(changes: Partial<Wanted> & { accountId: string }): Wanted {
  return {
    holdId: newId(),
    resourceId: newId(),
    kind: 'payout',
    amount: 1_000,
    fee: 0,
    ...changes,
  };
}

async function funded(cents: number): Promise<string> {
  const accountId = newId();
  await handle(ledger.engine, aReceivedPixCredit({ accountId, amount: cents }));
  return accountId;
}

function pathOf(hold: { holdId: string }): string {
  return `/internal/holds/${hold.holdId}`;
}

function bodyOf({ accountId, resourceId, kind, amount, fee, endToEndId }: Wanted): object {
  const pix = endToEndId === undefined ? {} : { end_to_end_id: endToEndId };
  return { account_id: accountId, resource_id: resourceId, kind, amount, fee, ...pix };
}

async function take(hold: Wanted) {
  return await ledger.send('PUT', pathOf(hold), bodyOf(hold));
}

async function end(hold: HoldRef, how: 'void') {
  const { accountId: account_id, resourceId: resource_id } = hold;
  return await ledger.send('POST', `${pathOf(hold)}/${how}`, { account_id, resource_id });
}

async function outcomeOf(hold: Wanted): Promise<{ outcome: string }> {
  return (await take(hold)).json<{ outcome: string }>();
}

async function voidOutcomeOf(hold: HoldRef): Promise<{ outcome: string }> {
  return (await end(hold, 'void')).json<{ outcome: string }>();
}

/** Ids of all pages of a query. */
async function idsOf(query: string): Promise<string[]> {
  const ids: string[] = [];
  let after = '';
  for (let more = true; more;) {
    const answer = await ledger.get(`/internal/holds?${query}${after}`, { accountId: null });
    const page = answer.json<{ data: { hold_id: string }[]; has_more: boolean }>();
    ids.push(...page.data.map(({ hold_id }) => hold_id));
    after = `&starting_after=${ids.at(-1)}`;
    more = page.has_more;
  }
  return ids;
}
