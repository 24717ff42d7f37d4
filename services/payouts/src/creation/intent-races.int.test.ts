import assert from 'node:assert';

import { armFailpoints } from '@pixmesh/service/failpoints';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import type { aCreator } from '#test/payouts-environment.ts';
import { type PayoutsUnderTest, startPayoutsUnderTest } from '#test/payouts-under-test.ts';

let payouts: PayoutsUnderTest;

beforeAll(async () => {
  payouts = await startPayoutsUnderTest();
});
afterEach(() => armFailpoints({}));
afterAll(async () => {
  await payouts[Symbol.asyncDispose]();
});

const ROUTE = 'POST /v1/payouts';
const TAKE = ['PUT', /^\/internal\/holds\/[^/]+$/] as const;
const VOID = ['POST', /\/void$/] as const;
const body = { amount: 1_000, pix_key_type: 'email', pix_key: 'ana@example.com' };

type Creator = ReturnType<typeof aCreator>;

/** What must hold of every key once nothing is under way: one payout with one open hold, or nothing at all. */
async function expectAtRest(caller: Creator, funded: number, wanted: 'exists' | 'nothing') {
  const row = await payouts.row(caller.creation_id);
  const open = (await payouts.ledger.holdsOf(caller.creation_id)).filter(
    ({ state }) => state === 'open',
  );
  const created = await payouts.eventsOf(caller.creation_id);
  if (wanted === 'nothing') {
    expect([row, open, created]).toEqual([null, [], []]);
    expect(await payouts.ledger.available(caller.account_id)).toBe(funded);
    return;
  }
  expect(row?.status).toBe('processing');
  expect(open).toMatchObject([{ hold_id: row?.holdId }]);
  expect(created).toMatchObject([{ type: 'payment.pix.created', sequence: 1 }]);
  expect(await payouts.ledger.available(caller.account_id)).toBe(funded - 1_000);
}

async function expectUnknown(caller: Creator) {
  const answer = await payouts.request(caller, ROUTE, body);
  expect([answer.status, answer.body.code]).toEqual([500, 'INTERNAL_ERROR']);
}

async function expectReplayed(caller: Creator) {
  const answer = await payouts.request(caller, ROUTE, body);
  expect(answer.status).toBe(201);
  expect(answer.headers.get('idempotent-replayed')).toBe('true');
}

test('a call that dies before its intent leaves nothing; a repeat is the first', async () => {
  const caller = await payouts.fundedCreator(5_000);
  armFailpoints({ 'payouts.create.before-insert': 'error' });
  await expectUnknown(caller);
  await expectAtRest(caller, 5_000, 'nothing');
  const repeated = await payouts.request(caller, ROUTE, body);
  expect(repeated.headers.has('idempotent-replayed')).toBe(false);
  await expectAtRest(caller, 5_000, 'exists');
});

describe('a call that dies after its intent', () => {
  test('is shown to nobody, and the same key goes on with its hold', async () => {
    const caller = await payouts.fundedCreator(5_000);
    armFailpoints({ 'payouts.create.after-intent': 'error' });
    await expectUnknown(caller);
    const intent = await payouts.row(caller.creation_id);
    expect(intent?.status).toBe('intent');
    const read = await payouts.request(caller, `GET /v1/payouts/${caller.creation_id}`);
    expect([read.status, read.body.code]).toEqual([404, 'PAYOUT_NOT_FOUND']);
    expect((await payouts.request(caller, 'GET /v1/payouts')).body.data).toEqual([]);
    await expectReplayed(caller);
    expect((await payouts.row(caller.creation_id))?.holdId).toBe(intent?.holdId);
    await expectAtRest(caller, 5_000, 'exists');
  });

  test('is dropped by the job, and its key makes a new payout', async () => {
    const caller = await payouts.fundedCreator(5_000);
    armFailpoints({ 'payouts.create.after-intent': 'error' });
    await expectUnknown(caller);
    expect(await payouts.settle(caller.creation_id)).toEqual({ kind: 'dropped' });
    await expectAtRest(caller, 5_000, 'nothing');
    const repeated = await payouts.request(caller, ROUTE, body);
    expect(repeated.headers.has('idempotent-replayed')).toBe(false);
    await expectAtRest(caller, 5_000, 'exists');
  });
});

describe('a call that dies after its hold', () => {
  test('is continued by the same key', async () => {
    const caller = await payouts.fundedCreator(5_000);
    armFailpoints({ 'payouts.create.after-hold': 'error' });
    await expectUnknown(caller);
    expect(await payouts.ledger.available(caller.account_id)).toBe(4_000);
    await expectReplayed(caller);
    await expectAtRest(caller, 5_000, 'exists');
  });

  test('is finished by the job, which takes no hold and releases none', async () => {
    const caller = await payouts.fundedCreator(5_000);
    armFailpoints({ 'payouts.create.after-hold': 'error' });
    await expectUnknown(caller);
    expect(await payouts.settle(caller.creation_id)).toMatchObject({ kind: 'finished' });
    await expectAtRest(caller, 5_000, 'exists');
    await expectReplayed(caller);
  });

  test('is dropped by the job where the hold was refused', async () => {
    const caller = await payouts.fundedCreator(999);
    armFailpoints({ 'payouts.create.after-hold': 'error' });
    await expectUnknown(caller);
    expect(await payouts.settle(caller.creation_id)).toEqual({ kind: 'dropped' });
    await expectAtRest(caller, 999, 'nothing');
  });
});

test('a call that dies after its commit is a payout; a repeat returns it', async () => {
  const caller = await payouts.fundedCreator(5_000);
  armFailpoints({ 'payouts.create.after-commit': 'error' });
  await expectUnknown(caller);
  await expectReplayed(caller);
  await expectAtRest(caller, 5_000, 'exists');
});

describe('a ledger that does not answer', () => {
  test.each(['lost', 'answer_lost'] as const)(
    '(%s) is 500, and the same key repeats the hold',
    async (trouble) => {
      const caller = await payouts.fundedCreator(5_000);
      payouts.network.trouble(...TAKE, trouble);
      await expectUnknown(caller);
      expect((await payouts.row(caller.creation_id))?.status).toBe('intent');
      await expectReplayed(caller);
      expect(await payouts.ledger.holdsOf(caller.creation_id)).toHaveLength(1);
      await expectAtRest(caller, 5_000, 'exists');
    },
  );

  test('leaves an intent as it is when the job asks', async () => {
    const caller = await payouts.fundedCreator(5_000);
    armFailpoints({ 'payouts.create.after-intent': 'error' });
    await expectUnknown(caller);
    payouts.network.trouble(...VOID, 'lost', 'answer_lost');
    expect(await payouts.settle(caller.creation_id)).toMatchObject({ kind: 'unknown' });
    expect(await payouts.settle(caller.creation_id)).toMatchObject({ kind: 'unknown' });
    expect((await payouts.row(caller.creation_id))?.status).toBe('intent');
    expect(await payouts.settle(caller.creation_id)).toEqual({ kind: 'dropped' });
    await expectAtRest(caller, 5_000, 'nothing');
  });
});

describe('the job in between', () => {
  test('a hold still on its way is defeated by the void; the call begins anew and is the first', async () => {
    const caller = await payouts.fundedCreator(5_000);
    const way = Promise.withResolvers<void>();
    payouts.network.trouble(...TAKE, way.promise);
    const answering = payouts.request(caller, ROUTE, body);
    await expect.poll(() => payouts.row(caller.creation_id)).not.toBeNull();
    expect(await payouts.settle(caller.creation_id)).toEqual({ kind: 'dropped' });
    way.resolve();
    const answer = await answering;
    expect(answer.status).toBe(201);
    expect(answer.headers.has('idempotent-replayed')).toBe(false);
    const states = (await payouts.ledger.holdsOf(caller.creation_id)).map(({ state }) => state);
    expect(states.sort()).toEqual(['open', 'voided']);
    await expectAtRest(caller, 5_000, 'exists');
  });

  test('a void still on its way finds the payout finished', async () => {
    const caller = await payouts.fundedCreator(5_000);
    armFailpoints({ 'payouts.create.after-intent': 'error' });
    await expectUnknown(caller);
    const way = Promise.withResolvers<void>();
    payouts.network.trouble(...VOID, way.promise);
    const settling = payouts.settle(caller.creation_id);
    await expect.poll(() => payouts.network.planned()).toBe(0);
    await expectReplayed(caller);
    way.resolve();
    expect(await settling).toEqual({ kind: 'moved' });
    await expectAtRest(caller, 5_000, 'exists');
  });

  test('another call of the key that began anew meanwhile has the first answer', async () => {
    const caller = await payouts.fundedCreator(5_000);
    const way = Promise.withResolvers<void>();
    payouts.network.trouble(...TAKE, way.promise);
    const slow = payouts.request(caller, ROUTE, body);
    await expect.poll(() => payouts.row(caller.creation_id)).not.toBeNull();
    await payouts.settle(caller.creation_id);
    const quick = await payouts.request(caller, ROUTE, body);
    way.resolve();
    expect(quick.headers.has('idempotent-replayed')).toBe(false);
    expect((await slow).headers.get('idempotent-replayed')).toBe('true');
    await expectAtRest(caller, 5_000, 'exists');
  });
});

describe('an intent left behind, and payouts disabled since', () => {
  const disable = (caller: Creator) => ({
    ...caller,
    settings: { ...caller.settings, payouts_enabled: false },
  });

  test('is dropped, so that the refusal is final', async () => {
    const caller = await payouts.fundedCreator(5_000);
    armFailpoints({ 'payouts.create.after-intent': 'error' });
    await expectUnknown(caller);
    const refused = await payouts.request(disable(caller), ROUTE, body);
    expect([refused.status, refused.body.code]).toEqual([422, 'PAYOUTS_DISABLED']);
    await expectAtRest(caller, 5_000, 'nothing');
  });

  test('is dropped by a body that cannot be read too: no hold is taken', async () => {
    const caller = await payouts.fundedCreator(5_000);
    armFailpoints({ 'payouts.create.after-intent': 'error' });
    await expectUnknown(caller);
    const refused = await payouts.request(disable(caller), ROUTE, '{');
    expect([refused.status, refused.body.code]).toEqual([400, 'VALIDATION_ERROR']);
    await expectAtRest(caller, 5_000, 'nothing');
  });

  test('is finished and returned where its hold stands', async () => {
    const caller = await payouts.fundedCreator(5_000);
    armFailpoints({ 'payouts.create.after-hold': 'error' });
    await expectUnknown(caller);
    expect((await payouts.request(disable(caller), ROUTE, body)).status).toBe(201);
    await expectAtRest(caller, 5_000, 'exists');
  });
});

test('an intent whose hold has been released makes no payout, by nobody', async () => {
  const caller = await payouts.fundedCreator(5_000);
  armFailpoints({ 'payouts.create.after-hold': 'error' });
  await expectUnknown(caller);
  const intent = await payouts.row(caller.creation_id);
  assert(intent);
  await payouts.ledger.release(intent);
  await expectUnknown(caller);
  expect(await payouts.settle(caller.creation_id)).toEqual({ kind: 'moved' });
  expect((await payouts.row(caller.creation_id))?.status).toBe('intent');
  expect(await payouts.eventsOf(caller.creation_id)).toEqual([]);
});

test('a broken body over an intent finishes it and is a mismatch', async () => {
  const caller = await payouts.fundedCreator(5_000);
  armFailpoints({ 'payouts.create.after-intent': 'error' });
  await expectUnknown(caller);
  const answer = await payouts.request(caller, ROUTE, '{');
  expect(answer.status).toBe(201);
  expect(answer.headers.get('idempotency-mismatch')).toBe('true');
  await expectAtRest(caller, 5_000, 'exists');
});

test('an intent is not for operators either', async () => {
  const caller = await payouts.fundedCreator(5_000);
  armFailpoints({ 'payouts.create.after-intent': 'error' });
  await expectUnknown(caller);
  const id = caller.creation_id;
  const asked = { operator_id: caller.key_id, settings: caller.settings };
  const calls = [
    payouts.request(null, `GET /internal/payouts/${id}`),
    payouts.request(null, `POST /internal/payouts/${id}/approve`, asked),
    payouts.request(null, `POST /internal/payouts/${id}/cancel`, asked),
  ];
  for (const answer of await Promise.all(calls)) {
    expect([answer.status, answer.body.code]).toEqual([404, 'PAYOUT_NOT_FOUND']);
  }
});
