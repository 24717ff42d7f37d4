import { newId } from '@pixmesh/kernel/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { type Answer, sendRequest } from '#test/send-request.ts';
import { answerJson } from '#test/start-fake-owner.ts';
import { startTestGateway, type Tenant, type TestGateway } from '#test/start-test-gateway.ts';

const ENDPOINT = { id: newId(), object: 'webhook' };
const LIST = { object: 'list', data: [], has_more: false };
const NOT_FOUND = { code: 'WEBHOOK_NOT_FOUND', message: 'x', details: [] };

let gateway: TestGateway;
let tenant: Tenant;

beforeAll(async () => {
  gateway = await startTestGateway();
  tenant = await gateway.createTenant();
});
afterAll(() => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  for (const owner of Object.values(gateway.owners)) {
    owner.requests.length = 0;
    owner.answerWith((response) => answerJson(response, 200, { body: ENDPOINT }));
  }
});

function send(
  route: string,
  {
    key = tenant.key,
    headers = [] as readonly string[],
    body = undefined as string | undefined,
  } = {},
): Promise<Answer> {
  const [method = '', path = ''] = route.split(' ');
  const { public: port } = gateway.ports;
  return sendRequest({ port, method, path, headers: ['x-api-key', key, ...headers], body });
}

/** What was forwarded: the gateway also asks for itself. */
const seen = () => gateway.owners.dispatcher.requests.filter(({ url }) => url?.startsWith('/v1/'));

describe('a route of webhooks', () => {
  test.each([
    { route: 'POST /v1/webhooks', status: 201, body: '{ "url": 1e2 }' },
    { route: `PATCH /v1/webhooks/${ENDPOINT.id}`, status: 200, body: '{"active":false}' },
    { route: `PATCH /v1/webhooks/${ENDPOINT.id}`, status: 404, body: '' },
    { route: 'PATCH /v1/webhooks/events', status: 404, body: '{}' },
    { route: 'GET /v1/webhooks?limit=0&starting_after[]=x', status: 200, body: '' },
    { route: 'GET /v1/webhooks/events', status: 200, body: '' },
  ])('goes to the dispatcher alone: $route $status', async ({ route, status, body }) => {
    gateway.owners.dispatcher.answerWith((response) =>
      answerJson(response, status, { body: status === 404 ? NOT_FOUND : ENDPOINT }),
    );
    const headers = ['Content-Type', 'application/json', 'Idempotency-Key', 'x'];
    const answer = await send(route, { headers, body });
    expect([answer.status, answer.json]).toEqual([status, status === 404 ? NOT_FOUND : ENDPOINT]);
    const [method, url] = route.split(' ');
    expect(seen()).toMatchObject([{ method, url, body: Buffer.from(body) }]);
    expect(seen()[0]?.headers['content-type']).toBe(
      method === 'GET' ? undefined : 'application/json',
    );
    const { charges, payouts, ledger } = gateway.owners;
    expect([charges, payouts, ledger].flatMap(({ requests }) => requests)).toEqual([]);
    expect(seen()[0]?.claims).toMatchObject({
      tenant: {
        account_id: tenant.accountId,
        application_id: tenant.applicationId,
        key_id: tenant.keyId,
        creation_id: null,
      },
    });
  });

  test.each([
    { name: 'nothing', headers: [], body: undefined },
    { name: 'an empty body', headers: ['Content-Type', 'application/json'], body: '' },
    { name: 'a body', headers: ['Content-Type', 'text/plain'], body: 'nonsense' },
  ])('deletes without a body on either side, sent with $name', async ({ headers, body }) => {
    gateway.owners.dispatcher.answerWith((response) => void response.writeHead(204).end());
    const answer = await send(`DELETE /v1/webhooks/${ENDPOINT.id}`, { headers, body });
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(Object.keys(answer.headers).sort()).toEqual([
      'cache-control',
      'connection',
      'date',
      'x-content-type-options',
      'x-request-id',
    ]);
    expect(seen()).toMatchObject([{ method: 'DELETE', url: `/v1/webhooks/${ENDPOINT.id}` }]);
    expect(seen()[0]?.body).toHaveLength(0);
    expect(seen()[0]?.headers).not.toHaveProperty('content-type');
  });

  test('passes the refusals of a deletion on', async () => {
    gateway.owners.dispatcher.answerWith((response) =>
      answerJson(response, 404, { body: NOT_FOUND }),
    );
    const answer = await send('DELETE /v1/webhooks/events');
    expect([answer.status, answer.json]).toEqual([404, NOT_FOUND]);
    expect(seen()).toMatchObject([{ method: 'DELETE', url: '/v1/webhooks/events' }]);
  });

  test.each([
    { route: `GET /v1/webhooks/${ENDPOINT.id}`, allow: ['DELETE', 'PATCH'] },
    { route: `PUT /v1/webhooks/${ENDPOINT.id}`, allow: ['DELETE', 'PATCH'] },
    { route: 'DELETE /v1/webhooks', allow: ['GET', 'POST'] },
    { route: 'POST /v1/webhooks/events', allow: ['DELETE', 'GET', 'PATCH'] },
  ])('$route is no route of the table: 405 with Allow', async ({ route, allow }) => {
    const answer = await send(route);
    expect([answer.status, answer.json['code']]).toEqual([405, 'METHOD_NOT_ALLOWED']);
    expect(String(answer.headers['allow']).split(', ').sort()).toEqual(allow);
    expect(seen()).toEqual([]);
  });

  test.each(['GET /v1/webhooks/', 'GET /v1/webhooks/events/', `PATCH /v1/webhooks/a/b`])(
    '%s names nothing at all: 404',
    async (route) => {
      const answer = await send(route);
      expect([answer.status, answer.json['code']]).toEqual([404, 'NOT_FOUND']);
    },
  );
});

describe('scopes of webhooks', () => {
  test.each([
    { route: 'GET /v1/webhooks', scope: 'webhook:read' },
    { route: 'POST /v1/webhooks', scope: 'webhook:write' },
    { route: `PATCH /v1/webhooks/${ENDPOINT.id}`, scope: 'webhook:write' },
    { route: `DELETE /v1/webhooks/${ENDPOINT.id}`, scope: 'webhook:write' },
  ] as const)('$route asks for $scope and says so', async ({ route, scope }) => {
    const other = scope === 'webhook:read' ? 'webhook:write' : 'webhook:read';
    const { key } = await gateway.createTenant({ scopes: [other] });
    const answer = await send(route, { key });
    expect(answer.status).toBe(403);
    expect(answer.json).toMatchObject({ code: 'INSUFFICIENT_SCOPE', details: [scope] });
    expect(seen()).toEqual([]);
  });

  test('the catalogue takes any key that is valid, and no other', async () => {
    gateway.owners.dispatcher.answerWith((response) => answerJson(response, 200, { body: LIST }));
    const { key } = await gateway.createTenant({ scopes: ['balance:read'] });
    expect((await send('GET /v1/webhooks/events', { key })).json).toEqual(LIST);
    const answer = await gateway.request(null, 'GET', '/v1/webhooks/events');
    expect([answer.status, answer.json['code']]).toEqual([401, 'UNAUTHORIZED']);
  });
});
