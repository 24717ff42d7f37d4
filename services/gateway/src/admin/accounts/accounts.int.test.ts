import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { startTestGateway, type TestGateway } from '#test/start-test-gateway.ts';

const REQUIRED = { name: 'Loja', legal_name: 'Loja Ltda', document: '529.982.247-25' };

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());

async function create(changes: object = {}): Promise<Record<string, unknown>> {
  const answer = await gateway.admin('POST', '/admin/accounts', {
    body: { ...REQUIRED, ...changes },
  });
  expect(answer.status).toBe(201);
  return answer.json;
}

async function readActions(targetId: unknown): Promise<unknown[]> {
  const answer = await gateway.admin('GET', `/admin/audit?target_id=${String(targetId)}`);
  return (answer.json['data'] as { action: string }[]).map((entry) => entry.action);
}

describe('creating an account', () => {
  test('stores it with its defaults and an audit entry', async () => {
    const account = await create();
    expect(account).toEqual({
      id: expect.any(String) as string,
      object: 'account',
      name: 'Loja',
      legal_name: 'Loja Ltda',
      document: '52998224725',
      document_type: 'cpf',
      phone: '',
      status: 'active',
      onboarding_status: 'pending',
      auto_payout_enabled: false,
      created_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/) as string,
      payouts_enabled: true,
      payout_fee: 0,
      charge_expires_in: 86_400,
      release_delay_seconds: 0,
      late_payment_policy: 'accept',
      requests_per_minute_max: null,
      requests_in_flight_max: null,
      endpoints_max: null,
      deliveries_per_second_max: null,
    });
    const read = await gateway.admin(
      'GET',
      `/admin/accounts/${String(account['id']).toUpperCase()}`,
    );
    expect(read.json).toEqual(account);
    expect(await readActions(account['id'])).toEqual(['account.created']);
  });

  test('takes every setting, and forces a rejected account to be inactive', async () => {
    const settings = {
      phone: '+5511999990000',
      onboarding_status: 'rejected',
      status: 'active',
      auto_payout_enabled: true,
      payouts_enabled: false,
      payout_fee: 199,
      charge_expires_in: 60,
      release_delay_seconds: 86_400,
      late_payment_policy: 'suspense',
    };
    expect(await create(settings)).toMatchObject({ ...settings, status: 'inactive' });
  });

  test('ignores what is not its to set', async () => {
    const id = newId();
    const account = await create({ id, document_type: 'cnpj', created_at: 'x', object: 'x' });
    expect(account).toMatchObject({ document_type: 'cpf', object: 'account' });
    expect(account['id']).not.toBe(id);
  });

  test.each([
    { body: {}, details: ['name', 'legal_name', 'document'] },
    { body: { ...REQUIRED, phone: '119' }, details: ['phone'] },
    { body: { ...REQUIRED, charge_expires_in: 604_801 }, details: ['charge_expires_in'] },
    { body: { ...REQUIRED, payout_fee: -1, document: 'x' }, details: ['payout_fee'] },
  ])('is refused with its faulty fields: $details', async ({ body, details }) => {
    const answer = await gateway.admin('POST', '/admin/accounts', { body });
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ code: 'VALIDATION_ERROR', details });
  });

  test('is refused with wrong check digits', async () => {
    const body = { ...REQUIRED, document: '529.982.247-26' };
    const answer = await gateway.admin('POST', '/admin/accounts', { body });
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ code: 'INVALID_DOCUMENT', details: ['document'] });
  });
});

describe('changing an account', () => {
  test('writes what is named, with digests before and after', async () => {
    const account = await create();
    const path = `/admin/accounts/${String(account['id'])}`;
    const changed = await gateway.admin('PATCH', path, {
      body: { payout_fee: 250, status: 'inactive' },
    });
    expect(changed.status).toBe(200);
    expect(changed.json).toEqual({ ...account, payout_fee: 250, status: 'inactive' });
    expect((await gateway.admin('GET', path)).json).toEqual(changed.json);
    const audit = await gateway.admin('GET', `/admin/audit?target_id=${String(account['id'])}`);
    const [updated, created] = audit.json['data'] as Record<string, unknown>[];
    expect(updated).toMatchObject({
      action: 'account.updated',
      digest_before: created?.['digest_after'],
    });
    expect(updated?.['digest_after']).not.toBe(updated?.['digest_before']);
    expect(audit.text).not.toContain('52998224725');
  });

  test('sets limits, leaves those that are not named, and removes one by null', async () => {
    const path = `/admin/accounts/${String((await create())['id'])}`;
    const limits = {
      requests_per_minute_max: 600,
      requests_in_flight_max: 50,
      endpoints_max: 10,
      deliveries_per_second_max: 25,
    };
    const set = await gateway.admin('PATCH', path, { body: limits });
    expect(set.json).toMatchObject(limits);
    const body = { requests_in_flight_max: null, name: null };
    const removed = await gateway.admin('PATCH', path, { body });
    expect(removed.json).toEqual({ ...set.json, requests_in_flight_max: null });
    expect((await gateway.admin('GET', path)).json).toEqual(removed.json);
  });

  test('announces its limit of deliveries with a version, also one that stays as it is', async () => {
    const id = String((await create())['id']);
    const set = (body: object) => gateway.admin('PATCH', `/admin/accounts/${id}`, { body });
    await set({ deliveries_per_second_max: 25 });
    await set({ payout_fee: 1 });
    await set({ deliveries_per_second_max: 25 });
    await set({ deliveries_per_second_max: null });
    const events = await gateway.database.db.query(sql`
      select topic, message -> 'data' as data
      from events
      where key = ${id} and type = 'account.limits_changed'
      order by event_id`);
    expect(events).toEqual(
      [25, 25, null].map((max, place) => ({
        topic: 'accounts.events.v1',
        data: { deliveries_per_second_max: max, version: place + 1 },
      })),
    );
  });

  test.each([0, -1, 1.5, 1_000_001, '10', true])('a limit of %j is refused', async (max) => {
    const path = `/admin/accounts/${String((await create())['id'])}`;
    const body = { endpoints_max: max, requests_per_minute_max: max };
    const answer = await gateway.admin('PATCH', path, { body });
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: ['requests_per_minute_max', 'endpoints_max'],
    });
  });

  test('that is refused leaves neither change nor audit entry', async () => {
    const account = await create();
    const path = `/admin/accounts/${String(account['id'])}`;
    for (const body of [{ payout_fee: -1 }, { document: '1' }, { status: 'x' }]) {
      expect((await gateway.admin('PATCH', path, { body })).status).toBe(400);
    }
    expect((await gateway.admin('GET', path)).json).toEqual(account);
    expect(await readActions(account['id'])).toEqual(['account.created']);
  });

  test('in parallel loses no change', async () => {
    const account = await create();
    const path = `/admin/accounts/${String(account['id'])}`;
    const changes = [
      { payout_fee: 7 },
      { name: 'Nova' },
      { phone: '+551199999' },
      { payouts_enabled: false },
    ];
    await Promise.all(changes.map((change) => gateway.admin('PATCH', path, { body: change })));
    expect((await gateway.admin('GET', path)).json).toMatchObject(Object.assign({}, ...changes));
  });

  test.each(['GET', 'PATCH'])('that does not exist is a 404: %s', async (method) => {
    for (const id of [newId(), 'not-a-uuid', '..%2f']) {
      const body = method === 'PATCH' ? { name: 7 } : undefined;
      const answer = await gateway.admin(method, `/admin/accounts/${id}`, { body });
      expect([answer.status, answer.json['code']]).toEqual([404, 'NOT_FOUND']);
    }
  });
});

describe('listing accounts', () => {
  test('goes newest first through every page, and filters', async () => {
    const document = '12.ABC.345/01DE-35';
    const made: unknown[] = [];
    for (let count = 0; count < 3; count += 1) made.unshift((await create({ document }))['id']);
    const path = '/admin/accounts?document=12ABC34501DE35&status=active&limit=2';
    const first = await gateway.admin('GET', path);
    const ids = (first.json['data'] as { id: string }[]).map((account) => account.id);
    expect(first.json).toMatchObject({ object: 'list', has_more: true });
    expect(ids).toEqual(made.slice(0, 2));
    const rest = await gateway.admin('GET', `${path}&starting_after=${ids[1]}`);
    expect(rest.json).toMatchObject({ has_more: false, data: [{ id: made[2] }] });
    const end = await gateway.admin('GET', `${path}&starting_after=${String(made[2])}`);
    expect(end.json).toEqual({ object: 'list', data: [], has_more: false });
  });

  test.each([
    { query: 'limit=0', detail: 'limit' },
    { query: 'limit=1&limit=2', detail: 'limit' },
    { query: 'limit[]=1', detail: 'limit' },
    { query: 'starting_after=x', detail: 'starting_after' },
    { query: `starting_after=${newId()}`, detail: 'starting_after' },
    { query: 'status=closed', detail: 'status' },
  ])('is refused with $query', async ({ query, detail }) => {
    const answer = await gateway.admin('GET', `/admin/accounts?${query}`);
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ code: 'VALIDATION_ERROR', details: [detail] });
  });
});
