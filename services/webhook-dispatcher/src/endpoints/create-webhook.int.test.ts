import { type ApplicationId, newId } from '@pixmesh/kernel/ids';
import { openSecret } from '@pixmesh/kernel/sealed-secret';
import { sql } from '@pixmesh/postgres/sql';
import { aCaller } from '@pixmesh/testkit/test-callers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { anEndpointBody, type EndpointsApi, startEndpointsApi } from '#test/start-endpoints-api.ts';
import { storeEndpoint } from '#test/store-endpoint.ts';
import { sealingKeys } from '#test/test-dispatcher.ts';

const ROUTE = 'POST /v1/webhooks';
const SECRET = 'whsec_0123456789';
/** More than a limit allows, and few enough that none waits for a connection longer than it may. */
const AT_ONCE = 8;

let api: EndpointsApi;

beforeAll(async () => {
  api = await startEndpointsApi();
});
afterAll(() => api[Symbol.asyncDispose]());

const create = (body?: unknown, headers?: Record<string, string>) =>
  api.request(aCaller(), ROUTE, body, headers);

describe('a new endpoint', () => {
  test('is answered with 201 and exactly the fields of the specification', async () => {
    const answer = await create(anEndpointBody({ description: 'orders', secret: SECRET }));
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      201,
      'application/json; charset=utf-8',
    ]);
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/) as string,
      object: 'webhook',
      url: 'https://shop.receiver.example.com/hook',
      description: 'orders',
      events: ['charge.pix.paid', 'payment.pix.failed'],
      active: true,
      has_secret: true,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
    });
  });

  test.each([{}, { description: null, secret: null }, { description: '' }])(
    'without description and secret has "" and has_secret false: %o',
    async (changes) => {
      const answer = await create(anEndpointBody(changes));
      expect(answer.body).toMatchObject({ description: '', has_secret: false });
    },
  );

  test('drops repeated names and keeps their order, announced ones included', async () => {
    const events = [
      'dispute.pix.won',
      'charge.pix.expired',
      'dispute.pix.won',
      'payment.ted.created',
    ];
    expect((await create(anEndpointBody({ events }))).body.events).toEqual([
      'dispute.pix.won',
      'charge.pix.expired',
      'payment.ted.created',
    ]);
  });

  test('keeps its URL as it was sent', async () => {
    const url = 'HTTP://SHOP.receiver.example.com:80/a/../b?x=%7e&y=ç#part';
    expect((await create(anEndpointBody({ url }))).body.url).toBe(url);
  });

  test('may have the URL of another one, and takes no Idempotency-Key', async () => {
    const caller = aCaller();
    const headers = { 'idempotency-key': 'order-0001' };
    const first = await api.request(caller, ROUTE, anEndpointBody(), headers);
    const second = await api.request(caller, ROUTE, anEndpointBody(), headers);
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body.id).not.toBe(first.body.id);
  });

  test('ignores fields that it does not know, `active` and `id` among them', async () => {
    const text = `{"__proto__":{"active":false},"active":false,"id":"x","url":"https://a.example.com/","events":["charge.pix.paid"]}`;
    const answer = await create(text);
    expect([answer.status, answer.body.active]).toEqual([201, true]);
    expect(answer.body.id).not.toBe('x');
  });

  test('has its secret sealed to its account and its own id, under the public key alone', async () => {
    const caller = aCaller();
    const { body } = await api.request(caller, ROUTE, anEndpointBody({ secret: SECRET }));
    const [row] = await api.db.query<{ sealed_secret: string }>(
      sql`select sealed_secret from endpoints where id = ${body.id}`,
    );
    const sealed = row?.sealed_secret ?? '';
    expect(sealed).not.toContain(SECRET);
    const open = (context: string) => openSecret(sealingKeys.privateKeys, sealed, context);
    expect(open(`${caller.account_id}/${body.id}`)).toBe(SECRET);
    expect(() => open(`${caller.account_id}/${caller.application_id}`)).toThrow(
      'belongs elsewhere',
    );
  });
});

describe('a body that is no order for an endpoint', () => {
  test.each([
    { name: 'nothing', body: '', details: ['body'] },
    { name: 'broken', body: '{"url":', details: ['body'] },
    { name: 'an array', body: '[]', details: ['body'] },
    { name: 'no UTF-8', body: Buffer.from([0x7b, 0xff, 0x7d]), details: ['body'] },
    { name: 'empty', body: {}, details: ['url', 'events'] },
    {
      name: 'all wrong',
      body: { url: 1, events: 'charge.pix.paid', description: 7, secret: 'short' },
      details: ['url', 'events', 'description', 'secret'],
    },
    { name: 'nulls', body: { url: null, events: null }, details: ['url', 'events'] },
    { name: 'no events', body: anEndpointBody({ events: [] }), details: ['events'] },
    {
      name: 'an event that is no text',
      body: anEndpointBody({ events: ['charge.pix.paid', 7, null] }),
      details: ['events'],
    },
    {
      name: 'a lone surrogate in an event',
      body: `{"url":"https://a.example.com/","events":["charge.pix.paid","\\ud83d"]}`,
      details: ['events'],
    },
    { name: 'empty secret', body: anEndpointBody({ secret: '' }), details: ['secret'] },
    { name: 'short secret', body: anEndpointBody({ secret: '1234567' }), details: ['secret'] },
    {
      name: 'long secret',
      body: anEndpointBody({ secret: 'x'.repeat(256) }),
      details: ['secret'],
    },
    {
      name: 'secret of 7 emoji',
      body: anEndpointBody({ secret: '🙂'.repeat(7) }),
      details: ['secret'],
    },
    {
      name: 'control character in secret and description',
      body: anEndpointBody({ secret: '12345678\u0000', description: 'a\nb' }),
      details: ['description', 'secret'],
    },
    {
      name: 'long description',
      body: anEndpointBody({ description: 'é'.repeat(256) }),
      details: ['description'],
    },
    {
      name: 'long URL',
      body: anEndpointBody({ url: `https://a.example.com/${'a'.repeat(2027)}` }),
      details: ['url'],
    },
    {
      name: 'lone surrogate in the URL',
      body: `{"url":"https://a.example.com/\\ud83d","events":["charge.pix.paid"]}`,
      details: ['url'],
    },
    {
      name: 'shape before codes',
      body: { url: 'http://localhost/', events: ['*'], secret: '' },
      details: ['secret'],
    },
  ])('is refused with every fault at once: $name', async ({ body, details }) => {
    const answer = await create(body);
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({
      code: 'VALIDATION_ERROR',
      message: expect.any(String) as string,
      details,
    });
  });

  test('is refused by its media type', async () => {
    const answer = await create(anEndpointBody(), { 'content-type': 'text/plain' });
    expect([answer.status, answer.body.details]).toEqual([400, ['content-type']]);
  });

  test.each([
    { secret: '12345678', description: 'é'.repeat(255) },
    { secret: '🙂'.repeat(255) },
    { url: `https://a.example.com/${'a'.repeat(2026)}` },
  ])('but limits themselves are allowed', async (changes) => {
    expect((await create(anEndpointBody(changes))).status).toBe(201);
  });
});

describe('a URL or an event with a code of its own', () => {
  test.each(['', 'no url', 'ftp://a.example.com/', 'http://u:p@a.example.com/'])(
    'INVALID_WEBHOOK_URL: %j',
    async (url) => {
      const answer = await create(anEndpointBody({ url, events: ['unknown'] }));
      expect(answer.status).toBe(422);
      expect(answer.body).toMatchObject({ code: 'INVALID_WEBHOOK_URL', details: ['url'] });
    },
  );

  test.each([
    { events: [''], details: [''] },
    { events: ['charge.paid'], details: ['charge.paid'] },
    { events: ['*'], details: ['*'] },
    { events: ['charge.pix.*', 'charge.pix.paid'], details: ['charge.pix.*'] },
    { events: ['Charge.Pix.Paid'], details: ['Charge.Pix.Paid'] },
    { events: ['charge.pix.paid '], details: ['charge.pix.paid '] },
    {
      events: ['payout.pix.created', 'b', 'payout.pix.created', 'a', 'b'],
      details: ['payout.pix.created', 'b', 'a'],
    },
    {
      events: ['toString', '__proto__', 'constructor'],
      details: ['toString', '__proto__', 'constructor'],
    },
    { events: ['charge.pix.paid\u0000'], details: ['charge.pix.paid\u0000'] },
  ])('INVALID_WEBHOOK_EVENT names each unknown one once: $events', async ({ events, details }) => {
    const answer = await create(anEndpointBody({ events }));
    expect(answer.status).toBe(422);
    expect(answer.body).toEqual({
      code: 'INVALID_WEBHOOK_EVENT',
      message: expect.any(String) as string,
      details,
    });
  });

  test('leaves nothing behind', async () => {
    const caller = aCaller();
    await api.request(caller, ROUTE, anEndpointBody({ events: ['*'] }));
    await api.request(caller, ROUTE, anEndpointBody({ url: 'http://localhost/' }));
    await api.request(caller, ROUTE, anEndpointBody({ secret: '' }));
    expect((await api.request(caller, 'GET /v1/webhooks')).body.data).toEqual([]);
  });
});

describe('the hundredth endpoint of an application', () => {
  test('is the last one, however many are asked for at once', async () => {
    const caller = aCaller();
    const create = () => api.request(caller, ROUTE, anEndpointBody());
    const owner = { accountId: caller.account_id, applicationId: caller.application_id };
    for (let count = 0; count < 95; count += 1) await storeEndpoint(api.db, owner);
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, create));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(5);
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused.map(({ status, body }) => [status, body.code, body.details])).toEqual(
      refused.map(() => [400, 'VALIDATION_ERROR', []]),
    );
    const list = await api.request(caller, 'GET /v1/webhooks');
    expect(list.body.data).toHaveLength(100);
    expect(list.body.has_more).toBe(false);
    const other = aCaller({ account_id: caller.account_id });
    expect((await api.request(other, ROUTE, anEndpointBody())).status).toBe(201);
    await api.request(caller, `DELETE /v1/webhooks/${list.body.data[50].id}`);
    expect((await api.request(caller, ROUTE, anEndpointBody())).status).toBe(201);
    expect((await api.request(caller, ROUTE, anEndpointBody())).status).toBe(400);
  });
});

describe('a limit of the account', () => {
  const ofOneAccount = (endpoints_max: number | null) => {
    const { account_id } = aCaller();
    return (application_id = newId<ApplicationId>()) => {
      const { settings, ...caller } = aCaller({ account_id, application_id });
      return { ...caller, settings: { ...settings, endpoints_max } };
    };
  };

  test('holds for all its applications together, however many are asked for at once', async () => {
    const caller = ofOneAccount(5);
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, () => api.request(caller(), ROUTE, anEndpointBody())),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(5);
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused.map(({ status, body }) => [status, body])).toEqual(
      refused.map(() => [
        400,
        {
          code: 'VALIDATION_ERROR',
          message: 'This account has at most 5 webhook endpoints.',
          details: [],
        },
      ]),
    );
    const { account_id } = caller();
    const use = await api.request(null, `GET /internal/accounts/${account_id}/use`);
    expect(use.body).toEqual({
      endpoints: 5,
      deliveries_per_second_max: null,
      deliveries_reached: null,
    });
  });

  test('leaves what is there, and room is made by a deletion', async () => {
    const limited = ofOneAccount(1);
    const caller = limited();
    const unlimited = { ...caller, settings: { ...caller.settings, endpoints_max: null } };
    const made = await api.request(unlimited, ROUTE, anEndpointBody());
    const other = await api.request(unlimited, ROUTE, anEndpointBody());
    expect((await api.request(caller, ROUTE, anEndpointBody())).status).toBe(400);
    await api.request(caller, `DELETE /v1/webhooks/${made.body.id}`);
    expect((await api.request(caller, ROUTE, anEndpointBody())).status).toBe(400);
    await api.request(caller, `DELETE /v1/webhooks/${other.body.id}`);
    expect((await api.request(caller, ROUTE, anEndpointBody())).status).toBe(201);
    expect((await api.request(limited(), ROUTE, anEndpointBody())).status).toBe(400);
  });
});
