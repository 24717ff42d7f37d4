import { newId } from '@pixmesh/kernel/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { answerJson } from '#test/start-fake-owner.ts';
import { startTestGateway, type TestGateway, forOperator } from '#test/start-test-gateway.ts';

const ID = newId();
const LIST = { object: 'list', data: [{ id: ID }], has_more: true };

let gateway: TestGateway;
let accountId: string;

beforeAll(async () => {
  gateway = await startTestGateway();
  ({ accountId } = await gateway.createTenant());
});
afterAll(() => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  for (const owner of Object.values(gateway.owners)) {
    owner.requests.length = 0;
    owner.answerWith((response) => answerJson(response, 200, { body: LIST }));
  }
});

const READS = [
  {
    owner: 'payouts',
    path: '/admin/payouts?account_id=x&status=pending&source=dashboard&reference=a%20b&limit=3',
    url: '/internal/payouts?account_id=x&status=pending&source=dashboard&reference=a%20b&limit=3',
  },
  {
    owner: 'payouts',
    path: '/admin/payouts?end_to_end_id=E1&created_after=2026-11-21&created_before=x&limit[]=1',
    url: '/internal/payouts?end_to_end_id=E1&created_after=2026-11-21&created_before=x&limit[]=1',
  },
  { owner: 'payouts', path: `/admin/payouts/${ID}`, url: `/internal/payouts/${ID}` },
  { owner: 'payouts', path: '/admin/payouts/..%2Fx', url: '/internal/payouts/..%2Fx' },
  {
    owner: 'ledger',
    path: '/admin/accounts/:id/balances?at=2026-11-21T12:00:00Z',
    url: '/internal/accounts/:id/balances?at=2026-11-21T12:00:00Z',
  },
  {
    owner: 'ledger',
    path: '/admin/accounts/:id/journals?limit=2&starting_after=x',
    url: '/internal/accounts/:id/journals?limit=2&starting_after=x',
  },
  {
    owner: 'charges',
    path: '/admin/charges?account_id=x&status=expired&source=checkout&reference=a%20b&limit=3',
    url: '/internal/charges?account_id=x&status=expired&source=checkout&reference=a%20b&limit=3',
  },
  {
    owner: 'charges',
    path: '/admin/charges?end_to_end_id=E1&created_after=2026-11-21&created_before=x',
    url: '/internal/charges?end_to_end_id=E1&created_after=2026-11-21&created_before=x',
  },
  { owner: 'charges', path: `/admin/charges/${ID}`, url: `/internal/charges/${ID}` },
  {
    owner: 'charges',
    path: `/admin/charges/${ID}/refunds?limit=2`,
    url: `/internal/charges/${ID}/refunds?limit=2`,
  },
  {
    owner: 'charges',
    path: '/admin/disputes?status=open&charge_id=x',
    url: '/internal/disputes?status=open&charge_id=x',
  },
  { owner: 'charges', path: `/admin/disputes/${ID}`, url: `/internal/disputes/${ID}` },
  { owner: 'ledger', path: '/admin/suspense?status=open', url: '/internal/suspense?status=open' },
  {
    owner: 'dispatcher',
    path: '/admin/deliveries?account_id=x&endpoint_id=y&event=charge.pix.paid&status=failed&limit=50',
    url: '/internal/operator-deliveries?account_id=x&endpoint_id=y&event=charge.pix.paid&status=failed&limit=50',
  },
  {
    owner: 'dispatcher',
    path: '/admin/deliveries?resource_id=x&created_after=2026-11-21&created_before=y&starting_after=z',
    url: '/internal/operator-deliveries?resource_id=x&created_after=2026-11-21&created_before=y&starting_after=z',
  },
  {
    owner: 'dispatcher',
    path: `/admin/deliveries/${ID}`,
    url: `/internal/operator-deliveries/${ID}`,
  },
  {
    owner: 'dispatcher',
    path: '/admin/recoveries?account_id=x&status=running&limit=2',
    url: '/internal/recoveries?account_id=x&status=running&limit=2',
  },
  { owner: 'dispatcher', path: '/admin/dispatchers', url: '/internal/dispatchers' },
  { owner: 'dispatcher', path: `/admin/recoveries/${ID}`, url: `/internal/recoveries/${ID}` },
] as const;

describe.each(READS)('GET $path', ({ owner, path, url }) => {
  const inAccount = (template: string) => template.replace(':id', accountId);

  test('is answered by its owner, with filters and paging as they were sent', async () => {
    const answer = await gateway.admin('GET', inAccount(path));
    expect(answer).toMatchObject({ status: 200, json: LIST });
    expect(answer.headers).toMatchObject({
      'cache-control': 'no-store',
      'content-type': 'application/json; charset=utf-8',
    });
    const [request, ...others] = gateway.owners[owner].requests;
    expect(others).toEqual([]);
    expect(request).toMatchObject({ method: 'GET', url: inAccount(url) });
    expect(request?.claims).toEqual(forOperator());
  });

  test('is refused in the words of the owner, and a 500 when there are none', async () => {
    const refusal = { code: 'VALIDATION_ERROR', message: 'x', details: ['limit'] };
    const fake = gateway.owners[owner];
    fake.answerWith((response) => answerJson(response, 400, { body: refusal }));
    expect(await gateway.admin('GET', inAccount(path))).toMatchObject({
      status: 400,
      json: refusal,
    });
    for (const status of [401, 503]) {
      fake.answerWith((response) => answerJson(response, status, { body: refusal }));
      expect((await gateway.admin('GET', inAccount(path))).json['code']).toBe('INTERNAL_ERROR');
    }
    fake.answerWith((response) => response.destroy());
    expect((await gateway.admin('GET', inAccount(path))).status).toBe(500);
  });
});

test.each(['balances', 'journals'])('%s of an unknown account are a 404', async (kind) => {
  for (const id of [newId(), 'not-a-uuid', '..']) {
    const answer = await gateway.admin('GET', `/admin/accounts/${id}/${kind}`);
    expect(answer).toMatchObject({ status: 404, json: { code: 'NOT_FOUND' } });
  }
  expect(gateway.owners.ledger.requests).toEqual([]);
});

test('another method is a 405 that names the right one', async () => {
  const answer = await gateway.admin('POST', '/admin/payouts');
  expect([answer.status, answer.headers['allow']]).toEqual([405, 'GET']);
});
