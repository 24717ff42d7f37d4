import { newId } from '@pixmesh/kernel/ids';
import { parkMessage } from '@pixmesh/postgres/dead-letters';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { answerJson, type FakeOwner } from '#test/start-fake-owner.ts';
import { startTestGateway, type TestGateway, forOperator } from '#test/start-test-gateway.ts';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  for (const owner of Object.values(gateway.owners)) {
    owner.requests.length = 0;
    park(owner, []);
  }
});

function park(owner: FakeOwner, ids: readonly string[], hasMore = false): void {
  const data = ids.map((id) => ({ id, object: 'dead_letter', code: 'MESSAGE_INVALID' }));
  owner.answerWith((response) =>
    answerJson(response, 200, { body: { object: 'list', data, has_more: hasMore } }),
  );
}

/** A UUIDv7 of the given millisecond: ids of one millisecond have no order among themselves. */
function anIdOf(ms: number): string {
  return `019a0000-000${ms}${newId().slice(13)}`;
}

describe('the list of dead letters', () => {
  test('joins every service, newest first, each letter with its service', async () => {
    const [oldest, middle, newest] = [anIdOf(1), anIdOf(2), anIdOf(3)];
    park(gateway.owners.charges, [newest, oldest]);
    park(gateway.owners.dispatcher, [middle]);
    const list = await gateway.admin('GET', '/admin/dead-letters');
    expect(list.status).toBe(200);
    expect(list.json).toMatchObject({
      object: 'list',
      data: [
        { id: newest, service: 'charges', code: 'MESSAGE_INVALID' },
        { id: middle, service: 'webhook-dispatcher' },
        { id: oldest, service: 'charges' },
      ],
      has_more: false,
    });
    const page = await gateway.admin('GET', '/admin/dead-letters?limit=2');
    expect(page.json).toMatchObject({ data: [{ id: newest }, { id: middle }], has_more: true });
  });

  test.each([
    ['charges', 'charges'],
    ['payouts', 'payouts'],
    ['ledger', 'ledger'],
    ['dispatcher', 'webhook-dispatcher'],
  ] as const)('has the letters of %s', async (owner, service) => {
    const id = newId();
    park(gateway.owners[owner], [id]);
    const list = await gateway.admin('GET', '/admin/dead-letters');
    expect(list.json['data']).toEqual([
      { id, object: 'dead_letter', code: 'MESSAGE_INVALID', service },
    ]);
  });

  test('asks one service alone, with cursor and limit, for the gateway itself', async () => {
    const cursor = newId();
    park(gateway.owners.ledger, [newId()], true);
    const list = await gateway.admin(
      'GET',
      `/admin/dead-letters?service=ledger&limit=1&starting_after=${cursor}`,
    );
    expect(list.json).toMatchObject({ data: [{ service: 'ledger' }], has_more: true });
    expect(gateway.owners.charges.requests).toHaveLength(0);
    const [request] = gateway.owners.ledger.requests;
    expect(request?.url).toBe(
      `/internal/dead-letters?limit=1&status=open&starting_after=${cursor}`,
    );
    expect(request?.claims).toEqual(forOperator());
  });

  test('is refused for a service that parks nothing', async () => {
    const list = await gateway.admin('GET', '/admin/dead-letters?service=simulator');
    expect(list.json).toMatchObject({ code: 'VALIDATION_ERROR', details: ['service'] });
  });

  test('fails rather than leave a service out', async () => {
    gateway.owners.ledger.answerWith((response) => response.destroy());
    expect((await gateway.admin('GET', '/admin/dead-letters')).status).toBe(500);
    gateway.owners.ledger.answerWith((response) => response.writeHead(200).end('garbage'));
    expect((await gateway.admin('GET', '/admin/dead-letters')).status).toBe(500);
  });
});

describe('one dead letter', () => {
  test('is shown by its service, which the answer names', async () => {
    const id = newId();
    const body = { id, object: 'dead_letter', payload: { amount: 1 } };
    gateway.owners.payouts.answerWith((response) => answerJson(response, 200, { body }));
    const answer = await gateway.admin('GET', `/admin/dead-letters/payouts/${id}`);
    expect(answer).toMatchObject({ status: 200, json: { ...body, service: 'payouts' } });
    expect(gateway.owners.payouts.requests).toMatchObject([
      { url: `/internal/dead-letters/${id}` },
    ]);
  });

  test('is a 404 where the service, the id or the letter is unknown', async () => {
    const refusal = { code: 'NOT_FOUND', message: 'x', details: [] };
    gateway.owners.charges.answerWith((response) => answerJson(response, 404, { body: refusal }));
    for (const path of [`charges/${newId()}`, 'charges/x', `simulator/${newId()}`]) {
      expect((await gateway.admin('GET', `/admin/dead-letters/${path}`)).status).toBe(404);
    }
  });

  test('may be the gateway’s own: an event that it could not publish', async () => {
    const { db } = gateway.database;
    const parked = { topic: 'accounts.events.v1', partition: 0, offset: 1n, key: 'a', headers: {} };
    const cause = { code: 'MESSAGE_INVALID', reason: 'an unknown field' };
    await parkMessage(db, 'intake', { ...parked, ...cause, value: Buffer.from('{"amount":1}') });
    const list = await gateway.admin('GET', '/admin/dead-letters?topic=accounts.events.v1');
    const [letter] = list.json['data'] as { id: string }[];
    expect(letter).toMatchObject({ service: 'gateway', key: 'a' });
    const path = `/admin/dead-letters/gateway/${letter?.id}`;
    expect((await gateway.admin('GET', path)).json).toMatchObject({ payload: { amount: 1 } });
    const body = { reason: 'a test wrote it' };
    const answer = await gateway.admin('POST', `${path}/dismiss`, { body });
    expect(answer).toMatchObject({
      status: 200,
      json: { status: 'dismissed', service: 'gateway' },
    });
    const repeated = await gateway.admin('POST', `${path}/dismiss`, { body });
    expect([repeated.status, repeated.headers['idempotent-replayed']]).toEqual([200, 'true']);
    const audit = await gateway.admin('GET', `/admin/audit?target_id=gateway/${letter?.id}`);
    expect((audit.json['data'] as { action: string }[]).map(({ action }) => action)).toEqual([
      'dead_letter.dismissal_requested',
      'dead_letter.dismissed',
      'dead_letter.dismissal_requested',
    ]);
  });
});

describe('a dismissal', () => {
  const id = newId();
  const letter = { id, object: 'dead_letter', status: 'open' };
  const dismiss = (body?: object) =>
    gateway.admin('POST', `/admin/dead-letters/ledger/${id}/dismiss`, { body });

  test('is asked of the service with the operator and the reason', async () => {
    gateway.owners.ledger.answerWith((response) => answerJson(response, 200, { body: letter }));
    expect(await dismiss({ reason: 'a duplicate' })).toMatchObject({ status: 200, json: letter });
    const [, asked] = gateway.owners.ledger.requests;
    expect(asked).toMatchObject({ method: 'POST', url: `/internal/dead-letters/${id}/dismiss` });
    expect(asked?.claims).toEqual(forOperator());
    expect(JSON.parse(String(asked?.body))).toEqual({ reason: 'a duplicate' });
  });

  test.each([{}, { reason: '' }, { reason: 'x'.repeat(501) }])(
    'without a reason never reaches the service: %#',
    async (body) => {
      gateway.owners.ledger.answerWith((response) => answerJson(response, 200, { body: letter }));
      expect((await dismiss(body)).json).toMatchObject({
        code: 'VALIDATION_ERROR',
        details: ['reason'],
      });
      expect(gateway.owners.ledger.requests.map(({ method }) => method)).toEqual(['GET']);
    },
  );
});

describe('a replay', () => {
  test('is asked of the service and written to the audit log', async () => {
    const id = newId();
    const body = { id, object: 'dead_letter', replayed: true };
    gateway.owners.charges.answerWith((response) => answerJson(response, 200, { body }));
    const answer = await gateway.admin('POST', `/admin/dead-letters/charges/${id}/replay`);
    expect(answer).toMatchObject({ status: 200, json: body });
    expect(gateway.owners.charges.requests).toMatchObject([
      { method: 'POST', url: `/internal/dead-letters/${id}/replay` },
    ]);
    const audit = await gateway.admin('GET', `/admin/audit?target_id=charges/${id}`);
    expect(audit.json['data']).toMatchObject([
      { action: 'dead_letter.replay_requested', target_kind: 'dead_letter', actor: 'bootstrap' },
    ]);
  });

  test('of an unknown service or letter is a 404, refused again a 409, failed a 500', async () => {
    const id = newId();
    expect((await gateway.admin('POST', `/admin/dead-letters/simulator/${id}/replay`)).status).toBe(
      404,
    );
    expect((await gateway.admin('POST', '/admin/dead-letters/charges/x/replay')).status).toBe(404);
    expect(gateway.owners.charges.requests).toHaveLength(0);
    for (const [status, expected] of [
      [404, 404],
      [409, 409],
      [500, 500],
      [401, 500],
    ] as const) {
      gateway.owners.charges.answerWith((response) => answerJson(response, status, { body: {} }));
      const answer = await gateway.admin('POST', `/admin/dead-letters/charges/${id}/replay`);
      expect([status, answer.status]).toEqual([status, expected]);
    }
  });
});
