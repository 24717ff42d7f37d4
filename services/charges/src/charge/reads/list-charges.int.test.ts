import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { newestFirst } from '@pixmesh/testkit/list-pages';
import { aCaller } from '@pixmesh/testkit/test-callers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import {
  type ChargesUnderTest,
  type Json,
  RECEIVER,
  startChargesUnderTest,
} from '#test/charges-under-test.ts';
import { type StoredCharge, storeCharge } from '#test/store-charge.ts';

let charges: ChargesUnderTest;

beforeAll(async () => {
  charges = await startChargesUnderTest();
});
afterAll(() => charges[Symbol.asyncDispose]());

const store = (changes: Partial<StoredCharge>) => storeCharge(charges.db, changes);
const at = (second: number) => new Date(Date.UTC(2026, 10, 21, 12, 0, second));
const PAST = { createdAt: at(0), expiresAt: at(60) };
const idsOf = (page: { body: Json }): string[] => page.body.data.map(({ id }: Json) => id);

describe('an item of the list', () => {
  test('is the charge as its own route shows it, byte for byte, in every status', async () => {
    const caller = aCaller();
    const { account_id: accountId } = caller;
    const statuses = ['processing', 'pending', 'paid', 'canceled', 'failed'] as const;
    for (const status of [...statuses, 'refunded', 'charged_back', 'infraction'] as const) {
      await store({ accountId, status });
    }
    await store({ accountId, ...PAST });
    await store({ accountId, ...PAST, acceptedE2e: newId() });
    const list = await charges.request(caller, 'GET /v1/charges');
    expect(list.body).toMatchObject({ object: 'list', has_more: false });
    expect(list.body.data).toHaveLength(10);
    for (const item of list.body.data) {
      const one = await charges.request(caller, `GET /v1/charges/${item.id}`);
      expect(JSON.stringify(item)).toBe(JSON.stringify(one.body));
      const filtered = await charges.request(caller, `GET /v1/charges?status=${item.status}`);
      expect(idsOf(filtered)).toContain(item.id);
      expect(new Set(filtered.body.data.map(({ status }: Json) => status))).toEqual(
        new Set([item.status]),
      );
    }
  });

  test('carries every field of a charge, and nothing of how it is stored', async () => {
    const caller = aCaller();
    const { id } = await store({ accountId: caller.account_id, ...PAST });
    const list = await charges.request(caller, 'GET /v1/charges');
    expect(list.body.data).toEqual([
      {
        id,
        object: 'charge',
        status: 'expired',
        amount: 12_345,
        currency: 'BRL',
        method: 'pix',
        description: null,
        reference: null,
        customer: { name: 'Ana Souza', email: 'ana@example.com', document: '52998224725' },
        pix: { br_code: '0'.repeat(150), end_to_end_id: null },
        receiver: RECEIVER,
        refunded_amount: 0,
        webhook_url: null,
        expires_at: '2026-11-21T12:01:00.000Z',
        paid_at: null,
        failure_reason: null,
        created_at: '2026-11-21T12:00:00.000Z',
      },
    ]);
  });
});

describe('the list', () => {
  test('is newest first with ties by id, in pages that meet without gap or overlap', async () => {
    const caller = aCaller();
    const { account_id: accountId } = caller;
    const stored: StoredCharge[] = [];
    for (let index = 0; index < 25; index += 1) {
      stored.push(await store({ accountId, createdAt: at(Math.floor(index / 4)) }));
    }
    await store({});
    const wanted = stored.toSorted(newestFirst).map(({ id }) => id);
    const seen: string[] = [];
    for (let pages = 0; pages < 4; pages += 1) {
      const after = seen.length > 0 ? `&starting_after=${seen.at(-1)?.toUpperCase()}` : '';
      const page = await charges.request(caller, `GET /v1/charges?limit=7${after}`);
      seen.push(...idsOf(page));
      expect(page.body.has_more).toBe(pages < 3);
    }
    expect(seen).toEqual(wanted);
    expect(idsOf(await charges.request(caller, 'GET /v1/charges'))).toEqual(wanted.slice(0, 20));
  });

  test('shows what any application of the account has made, and nothing of the checkout or the dashboard', async () => {
    const caller = aCaller();
    const { account_id: accountId } = caller;
    const { id } = await store({ accountId });
    await store({ accountId, source: 'checkout' });
    await store({ accountId, source: 'dashboard' });
    const colleague = aCaller({ account_id: accountId });
    for (const query of ['', '?status=pending', '?method=pix']) {
      expect(idsOf(await charges.request(colleague, `GET /v1/charges${query}`))).toEqual([id]);
    }
  });

  test('of an account without charges is empty', async () => {
    const answer = await charges.request(aCaller(), 'GET /v1/charges');
    expect([answer.status, answer.body]).toEqual([
      200,
      { object: 'list', data: [], has_more: false },
    ]);
  });

  test('filters by instants, strictly, at the milliseconds it answers', async () => {
    const caller = aCaller();
    const { account_id: accountId } = caller;
    const rows = [
      await store({ accountId, createdAt: new Date('2026-11-21T12:00:00.122Z') }),
      await store({ accountId, createdAt: new Date('2026-11-21T12:00:00.123Z') }),
      await store({ accountId, createdAt: new Date('2026-11-21T12:00:00.124Z') }),
    ];
    for (const status of ['', '&status=pending']) {
      const list = async (query: string) =>
        idsOf(await charges.request(caller, `GET /v1/charges?${query}${status}`));
      expect(await list('created_after=2026-11-21T12:00:00.123Z')).toEqual([rows[2]?.id]);
      expect(await list('created_before=2026-11-21T12:00:00.123Z')).toEqual([rows[0]?.id]);
      expect(await list('created_before=2026-11-21T09:00:00.123-03:00')).toEqual([rows[0]?.id]);
      expect(await list('created_after=2026-11-21')).toHaveLength(3);
      // What has finer digits than a charge is after the charge of its millisecond.
      expect(await list('created_before=2026-11-21T12:00:00.123000Z')).toEqual([rows[0]?.id]);
      expect(await list('created_before=2026-11-21T12:00:00.123001Z')).toEqual(
        await list('created_before=2026-11-21T12:00:00.124Z'),
      );
      expect(await list('created_after=2026-11-21T12:00:00.123001Z')).toEqual(
        await list('created_after=2026-11-21T12:00:00.123Z'),
      );
      expect(await list('created_before=2026-11-21')).toEqual([]);
      expect(await list('created_after=2026-11-22&created_before=2026-11-20')).toEqual([]);
      const both = `created_before=2026-11-21T12:00:00.124Z&starting_after=${rows[2]?.id}`;
      expect(await list(both)).toEqual([rows[1]?.id, rows[0]?.id]);
      const behind = `created_before=2026-11-21T12:00:00.124Z&starting_after=${rows[1]?.id}`;
      expect(await list(behind)).toEqual([rows[0]?.id]);
    }
  });

  test('accepts the methods boleto and card, of which there are no charges', async () => {
    const caller = aCaller();
    const { id } = await store({ accountId: caller.account_id });
    for (const [method, ids] of Object.entries({ pix: [id], boleto: [], card: [] })) {
      expect(idsOf(await charges.request(caller, `GET /v1/charges?method=${method}`))).toEqual(ids);
    }
    const after = await charges.request(caller, `GET /v1/charges?method=card&starting_after=${id}`);
    expect([after.status, idsOf(after)]).toEqual([200, []]);
  });

  test('a cursor counts by its position alone, whatever became of its charge between two pages', async () => {
    const caller = aCaller();
    const { account_id: accountId } = caller;
    const older = await store({ accountId, createdAt: at(1) });
    const newer = await store({ accountId, createdAt: at(2) });
    const path = 'GET /v1/charges?status=pending&limit=1';
    const first = await charges.request(caller, path);
    expect([idsOf(first), first.body.has_more]).toEqual([[newer.id], true]);
    await charges.db.query(sql`update charges set status = 'paid' where id = ${newer.id}`);
    const second = await charges.request(caller, `${path}&starting_after=${newer.id}`);
    expect([idsOf(second), second.body.has_more]).toEqual([[older.id], false]);
  });

  test.each([
    ['limit=0', ['limit']],
    ['limit=101', ['limit']],
    ['limit=abc', ['limit']],
    ['limit=1&limit=2', ['limit']],
    ['limit[]=1', ['limit']],
    ['status=open', ['status']],
    ['status=completed', ['status']],
    ['status=', ['status']],
    ['status=paid&status=paid', ['status']],
    ['method=ted', ['method']],
    ['created_after=yesterday', ['created_after']],
    ['created_after=2026-02-30', ['created_after']],
    ['created_before=2026-11-21T12:00:00', ['created_before']],
    ['starting_after=nonsense', ['starting_after']],
    [`method=card&starting_after=${newId()}`, ['starting_after']],
    ['limit=0&status=x&method=y', ['limit', 'method', 'status']],
  ])('?%s is a fault of its parameters', async (query, names) => {
    const answer = await charges.request(aCaller(), `GET /v1/charges?${query}`);
    expect([answer.status, answer.body.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(answer.body.details.toSorted()).toEqual(names);
  });

  test('unknown, ill-formed and foreign cursors and those of the checkout get one and the same answer', async () => {
    const caller = aCaller();
    const { account_id: accountId } = caller;
    await store({ accountId, createdAt: at(0) });
    const foreign = await store({ createdAt: at(9) });
    const checkout = await store({ accountId, source: 'checkout', createdAt: at(9) });
    const bodies = new Set<string>();
    for (const cursor of [foreign.id, checkout.id, newId(), 'nonsense', 'x'.repeat(500)]) {
      for (const filter of ['', '&status=pending', '&status=paid', '&created_before=2026-12-01']) {
        const path = `GET /v1/charges?starting_after=${cursor}${filter}`;
        const answer = await charges.request(caller, path);
        bodies.add(JSON.stringify([answer.status, answer.body]));
      }
    }
    expect([...bodies]).toEqual([
      expect.stringMatching(/^\[400,\{"code":"VALIDATION_ERROR",.*"details":\["starting_after"\]/),
    ]);
  });

  test('unknown parameters are ignored, and nothing is read without a tenant', async () => {
    expect((await charges.request(aCaller(), 'GET /v1/charges?page=2')).status).toBe(200);
    expect((await charges.request(null, 'GET /v1/charges')).status).toBe(401);
  });
});
