import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { sendRequest } from '#test/send-request.ts';
import { CALLBACK_SECRET, startTestGateway, type TestGateway } from '#test/start-test-gateway.ts';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

let gateway: TestGateway;
let key: string;

beforeAll(async () => {
  gateway = await startTestGateway();
  ({ key } = await gateway.createTenant());
});
afterAll(() => gateway[Symbol.asyncDispose]());

describe('every answer of a listener', () => {
  test.each([
    { listener: 'public', method: 'GET', path: '/v1/account', status: 401 },
    { listener: 'public', method: 'GET', path: '/v1/unknown', status: 404 },
    { listener: 'public', method: 'GET', path: '/v1/account/', status: 404 },
    { listener: 'public', method: 'GET', path: '/V1/account', status: 404 },
    { listener: 'public', method: 'DELETE', path: '/v1/account', status: 405 },
    { listener: 'public', method: 'HEAD', path: '/v1/account', status: 405 },
    { listener: 'public', method: 'GET', path: '/v1/charges/%zz', status: 401 },
    { listener: 'public', method: 'PATCH', path: '/v1/payouts/1', status: 405 },
    { listener: 'admin', method: 'GET', path: '/admin/accounts', status: 401 },
    { listener: 'admin', method: 'GET', path: '/admin/unknown', status: 404 },
    { listener: 'admin', method: 'PUT', path: '/admin/accounts', status: 405 },
    { listener: 'admin', method: 'POST', path: '/admin/payouts', status: 405 },
    { listener: 'callback', method: 'POST', path: '/acquirer/wrong', status: 401 },
    { listener: 'callback', method: 'GET', path: `/acquirer/${CALLBACK_SECRET}`, status: 405 },
    { listener: 'callback', method: 'POST', path: '/', status: 404 },
  ] as const)('has its own request id: $listener $method $path', async (row) => {
    const sent = { port: gateway.ports[row.listener], method: row.method, path: row.path };
    const answer = await sendRequest({ ...sent, headers: ['X-Request-Id', 'mine'] });
    expect(answer.status).toBe(row.status);
    expect(answer.headers['x-request-id']).toMatch(UUID_V7);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.headers['x-content-type-options']).toBe('nosniff');
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    const again = await sendRequest(sent);
    expect(again.headers['x-request-id']).not.toBe(answer.headers['x-request-id']);
  });

  test('names the allowed methods of a known path, with or without a key', async () => {
    for (const caller of [key, null]) {
      const answer = await gateway.request(caller, 'DELETE', '/v1/charges');
      expect(answer.status).toBe(405);
      expect(answer.headers['allow']).toBe('POST, GET');
      expect(answer.json).toMatchObject({ code: 'METHOD_NOT_ALLOWED', details: [] });
    }
  });

  test('allows no other site to read it', async () => {
    const answer = await sendRequest({
      port: gateway.ports.public,
      path: '/v1/account',
      headers: ['x-api-key', key, 'Origin', 'https://example.org'],
    });
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual(
      [],
    );
  });
});
