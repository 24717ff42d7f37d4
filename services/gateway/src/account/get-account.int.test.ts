import { Account } from '@pixmesh/contracts/http/account';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { startTestGateway, type TestGateway } from '#test/start-test-gateway.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());

test('the account of the key is answered with exactly the fields of the specification', async () => {
  const tenant = await gateway.createTenant({
    account: { phone: '+5511999990000', payout_fee: 150 },
  });
  const answer = await gateway.request(tenant.key, 'GET', '/v1/account');
  expect(answer.status).toBe(200);
  expect(Object.keys(answer.json)).toEqual(Object.keys(Account.shape));
  expect(Account.parse(answer.json)).toMatchObject({
    id: tenant.accountId,
    object: 'account',
    document: '11444777000161',
    document_type: 'cnpj',
    phone: '+5511999990000',
    status: 'active',
    onboarding_status: 'pending',
    auto_payout_enabled: false,
  });
});

test('each key sees its own account, and changes at once', async () => {
  const one = await gateway.createTenant({ account: { name: 'One' } });
  const two = await gateway.createTenant({ account: { name: 'Two' } });
  await gateway.admin('PATCH', `/admin/accounts/${two.accountId}`, {
    body: { name: 'Two changed' },
  });
  expect((await gateway.request(one.key, 'GET', '/v1/account')).json['name']).toBe('One');
  expect((await gateway.request(two.key, 'GET', '/v1/account')).json['name']).toBe('Two changed');
});

test('a key without the scope is refused', async () => {
  const { key } = await gateway.createTenant({ scopes: ['balance:read'] });
  expect((await gateway.request(key, 'GET', '/v1/account')).json).toMatchObject({
    code: 'INSUFFICIENT_SCOPE',
    details: ['account:read'],
  });
});
