import { createTokenVerifier } from '@pixmesh/http/service-token';
import { newId } from '@pixmesh/kernel/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { answerJson, type FakeOwner } from '#test/start-fake-owner.ts';
import { startTestGateway, type TestGateway, tokenKeys } from '#test/start-test-gateway.ts';

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
    expect(request?.url).toBe(`/internal/dead-letters?limit=1&starting_after=${cursor}`);
    const verify = createTokenVerifier('ledger', tokenKeys.publicKeys);
    expect(await verify(String(request?.headers['x-pixmesh-token']))).toBeNull();
  });

  test('is refused for a service that parks nothing', async () => {
    const list = await gateway.admin('GET', '/admin/dead-letters?service=gateway');
    expect(list.json).toMatchObject({ code: 'VALIDATION_ERROR', details: ['service'] });
  });

  test('fails rather than leave a service out', async () => {
    gateway.owners.ledger.answerWith((response) => response.destroy());
    expect((await gateway.admin('GET', '/admin/dead-letters')).status).toBe(500);
    gateway.owners.ledger.answerWith((response) => response.writeHead(200).end('garbage'));
    expect((await gateway.admin('GET', '/admin/dead-letters')).status).toBe(500);
  });
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
    expect((await gateway.admin('POST', `/admin/dead-letters/gateway/${id}/replay`)).status).toBe(
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
