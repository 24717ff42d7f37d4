import { ResumePayoutsBody, StopPayoutsBody } from '@pixmesh/contracts/internal/payout-stops';
import { newId } from '@pixmesh/kernel/ids';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import { answerJson } from '#test/start-fake-owner.ts';
import { startTestGateway, type TestGateway, forOperator } from '#test/start-test-gateway.ts';

let gateway: TestGateway;
let accountId: string;

beforeAll(async () => {
  gateway = await startTestGateway();
  ({ accountId } = await gateway.createTenant());
});
afterAll(() => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  gateway.owners.payouts.requests.length = 0;
});

const STOP = { id: newId(), object: 'payout_stop', reason: 'books' };

function answer(status: number, headers = {}): void {
  gateway.owners.payouts.answerWith((response) =>
    answerJson(response, status, { body: STOP, headers }),
  );
}

const act = (what: 'stop' | 'resume', body?: object) =>
  gateway.admin('POST', `/admin/payouts/${what}`, { body });

async function newestActions(targetId: string, limit: number): Promise<unknown[]> {
  const audit = await gateway.admin('GET', `/admin/audit?target_id=${targetId}&limit=${limit}`);
  return (audit.json['data'] as Record<string, unknown>[]).map((entry) => entry['action']);
}

test('a stop of an account goes to payouts with who acts, and both its request and itself are recorded', async () => {
  answer(200);
  const answered = await act('stop', { account_id: accountId.toUpperCase(), reason: 'books' });
  expect(answered).toMatchObject({ status: 200, json: STOP });
  const [sent] = gateway.owners.payouts.requests;
  expect([sent?.method, sent?.url]).toEqual(['POST', '/internal/payout-stops']);
  expect(StopPayoutsBody.parse(JSON.parse(String(sent?.body)))).toEqual({
    account_id: accountId,
    reason: 'books',
  });
  expect(sent?.claims).toEqual(forOperator());
  const recorded = ['payouts.stopped', 'payouts.stop_requested'];
  expect(await newestActions(accountId, 2)).toEqual(recorded);
});

test('a stop of all accounts, and its end, are recorded under that name', async () => {
  answer(200);
  await act('stop', { reason: 'books' });
  await act('resume', {});
  const [, sent] = gateway.owners.payouts.requests;
  expect(sent?.url).toBe('/internal/payout-stops/resume');
  expect(ResumePayoutsBody.parse(JSON.parse(String(sent?.body)))).toEqual({
    account_id: null,
  });
  expect(await newestActions('all', 4)).toEqual([
    'payouts.resumed',
    'payouts.resumption_requested',
    'payouts.stopped',
    'payouts.stop_requested',
  ]);
});

test('a repeat is answered as it is, and recorded as asked for only', async () => {
  const id = (await gateway.createTenant()).accountId;
  answer(200, { 'idempotent-replayed': 'true' });
  expect((await act('stop', { account_id: id, reason: 'books' })).status).toBe(200);
  expect(await newestActions(id, 2)).toEqual(['payouts.stop_requested', 'account.created']);
});

test.each([
  ['an unknown account', { account_id: newId(), reason: 'x' }, 404, 'NOT_FOUND'],
  ['no account id', { account_id: 'x', reason: 'x' }, 400, 'VALIDATION_ERROR'],
  ['no reason', {}, 400, 'VALIDATION_ERROR'],
  ['a field that is none', { accountId: newId(), reason: 'x' }, 400, 'VALIDATION_ERROR'],
])('a stop with %s is refused before payouts is asked', async (_name, body, status, code) => {
  const refused = await act('stop', body);
  expect([refused.status, refused.json['code']]).toEqual([status, code]);
  expect(gateway.owners.payouts.requests).toEqual([]);
});

test('an end with a field that is none is refused before payouts is asked: it would be the end for all accounts', async () => {
  const { status, json } = await act('resume', { accountId });
  expect([status, json['code'], json['details']]).toEqual([400, 'VALIDATION_ERROR', ['body']]);
  expect(json['message']).toContain('expected no other field');
  expect(gateway.owners.payouts.requests).toEqual([]);
});

test('the stop of an account that the gateway does not know can be ended: books may name any', async () => {
  answer(200);
  expect((await act('resume', { account_id: newId() })).status).toBe(200);
  expect(gateway.owners.payouts.requests).toHaveLength(1);
});

test('the list of stops is no payout: the path is its own', async () => {
  answer(200);
  await gateway.admin('GET', '/admin/payouts/stops?status=in_force');
  const [sent] = gateway.owners.payouts.requests;
  expect(sent?.url).toBe('/internal/payout-stops?status=in_force');
});
