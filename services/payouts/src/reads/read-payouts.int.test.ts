import { newId } from '@pixmesh/kernel/ids';
import { newestFirst } from '@pixmesh/testkit/list-pages';
import { aCaller } from '@pixmesh/testkit/test-callers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { type Json } from '#test/payouts-environment.ts';
import { type PayoutsUnderTest, startPayoutsUnderTest } from '#test/payouts-under-test.ts';
import { type StoredPayout, storePayout } from '#test/store-payout.ts';

let payouts: PayoutsUnderTest;

beforeAll(async () => {
  payouts = await startPayoutsUnderTest();
});
afterAll(async () => {
  await payouts[Symbol.asyncDispose]();
});

const store = (changes: Partial<StoredPayout>) => storePayout(payouts.db, changes);
const at = (second: number) => new Date(Date.UTC(2026, 10, 21, 12, 0, second));
const idsOf = (page: { body: Json }): string[] => page.body.data.map(({ id }: Json) => id);

describe('one payout', () => {
  test('is read by its own account, by any of its applications, in any case of the id', async () => {
    const caller = aCaller();
    const { id } = await store({ accountId: caller.account_id, source: 'dashboard' });
    for (const path of [id, id.toUpperCase()]) {
      const read = await payouts.request(caller, `GET /v1/payouts/${path}`);
      expect([read.status, read.body.id, read.body.object]).toEqual([200, id, 'payout']);
      expect(read.body).not.toHaveProperty('hold_id');
    }
  });

  test('unknown, ill-formed and foreign ids and intents get one and the same 404', async () => {
    const caller = aCaller();
    const foreign = await store({});
    const intent = await store({ accountId: caller.account_id, status: 'intent' });
    const wanted = { code: 'PAYOUT_NOT_FOUND', message: 'Payout not found.', details: [] };
    for (const id of [foreign.id, intent.id, newId(), 'nonsense', 'x'.repeat(500), '%00']) {
      const read = await payouts.request(caller, `GET /v1/payouts/${id}`);
      expect([id, read.status, read.body]).toEqual([id, 404, wanted]);
    }
  });

  test('nobody reads without a tenant', async () => {
    expect((await payouts.request(null, `GET /v1/payouts/${newId()}`)).status).toBe(401);
    expect((await payouts.request(null, 'GET /v1/payouts')).status).toBe(401);
  });
});

describe('the list', () => {
  test('is newest first with ties by id, in pages that meet without gap or overlap', async () => {
    const caller = aCaller();
    const { account_id: accountId } = caller;
    const stored: StoredPayout[] = [];
    for (let index = 0; index < 25; index += 1) {
      stored.push(await store({ accountId, createdAt: at(Math.floor(index / 4)) }));
    }
    await store({ status: 'pending' });
    await store({ accountId, status: 'intent', createdAt: at(3) });
    const wanted = stored.toSorted(newestFirst).map(({ id }) => id);
    const whole = await payouts.request(caller, 'GET /v1/payouts?limit=100');
    expect(whole.body).toMatchObject({ object: 'list', has_more: false });
    expect(idsOf(whole)).toEqual(wanted);
    const seen: string[] = [];
    for (let pages = 0; pages < 4; pages += 1) {
      const after = seen.length > 0 ? `&starting_after=${seen.at(-1)}` : '';
      const page = await payouts.request(caller, `GET /v1/payouts?limit=7${after}`);
      seen.push(...idsOf(page));
      expect(page.body.has_more).toBe(pages < 3);
    }
    expect(seen).toEqual(wanted);
    expect(idsOf(await payouts.request(caller, 'GET /v1/payouts'))).toEqual(wanted.slice(0, 20));
  });

  test('of an account without payouts is empty', async () => {
    const answer = await payouts.request(aCaller(), 'GET /v1/payouts');
    expect([answer.status, answer.body]).toEqual([
      200,
      { object: 'list', data: [], has_more: false },
    ]);
  });

  test('filters by status, and a cursor counts by its position alone', async () => {
    const caller = aCaller();
    const { account_id: accountId } = caller;
    const pending = await store({ accountId, createdAt: at(1) });
    const failed = await store({ accountId, status: 'failed', createdAt: at(2) });
    const canceled = await store({ accountId, status: 'canceled', createdAt: at(3) });
    for (const one of [pending, failed, canceled]) {
      const page = await payouts.request(caller, `GET /v1/payouts?status=${one.status}`);
      expect(idsOf(page)).toEqual([one.id]);
    }
    const after = `starting_after=${canceled.id.toUpperCase()}`;
    const page = await payouts.request(caller, `GET /v1/payouts?status=pending&${after}`);
    expect(idsOf(page)).toEqual([pending.id]);
  });

  test('filters by instants, strictly, at the milliseconds it answers', async () => {
    const caller = aCaller();
    const { account_id: accountId } = caller;
    const rows = [
      await store({ accountId, createdAt: new Date('2026-11-21T12:00:00.122Z') }),
      await store({ accountId, createdAt: new Date('2026-11-21T12:00:00.123Z') }),
      await store({ accountId, createdAt: new Date('2026-11-21T12:00:00.124Z') }),
    ];
    const list = async (query: string) =>
      idsOf(await payouts.request(caller, `GET /v1/payouts?${query}`));
    expect(await list('created_after=2026-11-21T12:00:00.123Z')).toEqual([rows[2]?.id]);
    expect(await list('created_before=2026-11-21T12:00:00.123Z')).toEqual([rows[0]?.id]);
    expect(await list('created_before=2026-11-21T09:00:00.123-03:00')).toEqual([rows[0]?.id]);
    expect(await list('created_after=2026-11-21')).toHaveLength(3);
    expect(await list('created_before=2026-11-21')).toHaveLength(0);
    expect(await list('created_after=2026-11-22&created_before=2026-11-20')).toEqual([]);
  });

  test('knows the method TED, which nobody makes', async () => {
    const caller = aCaller();
    const { id } = await store({ accountId: caller.account_id });
    expect(idsOf(await payouts.request(caller, 'GET /v1/payouts?method=pix'))).toEqual([id]);
    expect(idsOf(await payouts.request(caller, 'GET /v1/payouts?method=ted'))).toEqual([]);
  });

  test.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=abc', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['limit[]=1', 'limit'],
    ['status=intent', 'status'],
    ['status=paid', 'status'],
    ['status=', 'status'],
    ['method=boleto', 'method'],
    ['created_after=yesterday', 'created_after'],
    ['created_after=2026-02-30', 'created_after'],
    ['created_before=2026-11-21T12:00:00', 'created_before'],
    ['starting_after=nonsense', 'starting_after'],
    [`starting_after=${newId()}`, 'starting_after'],
    [`method=ted&starting_after=${newId()}`, 'starting_after'],
  ])('?%s is a fault of its parameter', async (query, name) => {
    const answer = await payouts.request(aCaller(), `GET /v1/payouts?${query}`);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ code: 'VALIDATION_ERROR', details: [name] });
  });

  test('a foreign cursor and that of an intent are as unknown as any', async () => {
    const caller = aCaller();
    await store({ accountId: caller.account_id });
    const foreign = await store({});
    const intent = await store({ accountId: caller.account_id, status: 'intent' });
    for (const { id } of [foreign, intent]) {
      const answer = await payouts.request(caller, `GET /v1/payouts?starting_after=${id}`);
      expect([answer.status, answer.body.details]).toEqual([400, ['starting_after']]);
    }
  });

  test('unknown parameters are ignored', async () => {
    expect((await payouts.request(aCaller(), 'GET /v1/payouts?page=2')).status).toBe(200);
  });
});
