import { openSecret } from '@pixmesh/kernel/sealed-secret';
import { sql } from '@pixmesh/postgres/sql';
import { aCaller } from '@pixmesh/testkit/test-callers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import {
  anEndpointBody,
  type EndpointsApi,
  type Json,
  startEndpointsApi,
} from '#test/start-endpoints-api.ts';
import { sealingKeys } from '#test/test-dispatcher.ts';

let api: EndpointsApi;
let endpoint: Json;
const caller = aCaller();

beforeAll(async () => {
  api = await startEndpointsApi();
});
afterAll(() => api[Symbol.asyncDispose]());
beforeEach(async () => {
  // Each test has an endpoint of its own; together they stay far below the bound.
  const body = anEndpointBody({ description: 'first', secret: 'first-secret' });
  endpoint = (await api.request(caller, 'POST /v1/webhooks', body)).body;
});

const patch = (body?: unknown, headers?: Record<string, string>) =>
  api.request(caller, `PATCH /v1/webhooks/${endpoint.id}`, body, headers);

const stored = async (): Promise<Json> => {
  const list = await api.request(caller, 'GET /v1/webhooks');
  return list.body.data.find(({ id }: Json) => id === endpoint.id);
};

async function sealedSecret(): Promise<string | null> {
  const rows = await api.db.query<{ sealed_secret: string | null }>(
    sql`select sealed_secret from endpoints where id = ${endpoint.id}`,
  );
  return rows[0]?.sealed_secret ?? null;
}

async function pausedAt(): Promise<Date | null> {
  const rows = await api.db.query<{ paused_at: Date | null }>(
    sql`select paused_at from endpoints where id = ${endpoint.id}`,
  );
  return rows[0]?.paused_at ?? null;
}

describe('a pause', () => {
  test('is dated when it begins, however often it is repeated, until the endpoint is resumed', async () => {
    expect(await pausedAt()).toBeNull();
    await patch({ active: false });
    const began = await pausedAt();
    expect(began).toBeInstanceOf(Date);
    await patch({ active: false });
    await patch({ description: 'still paused' });
    expect(await pausedAt()).toEqual(began);
    await patch({ active: true });
    expect(await pausedAt()).toBeNull();
    await patch({ active: false });
    expect((await pausedAt())!.getTime()).toBeGreaterThanOrEqual(began!.getTime());
  });
});

describe('a change', () => {
  test.each([
    [{}, {}],
    [{ unknown: 1, id: 'x', has_secret: false, created_at: null }, {}],
    [{ active: false }, { active: false }],
    [{ url: 'http://b.receiver.example.com/' }, { url: 'http://b.receiver.example.com/' }],
    [{ events: ['charge.pix.failed'] }, { events: ['charge.pix.failed'] }],
    [{ description: '' }, { description: '' }],
    [{ description: null }, { description: '' }],
    [{ secret: null }, { has_secret: false }],
    [{ secret: 'second-secret' }, { has_secret: true }],
    [
      {
        url: 'https://c.example.com/',
        events: ['charge.pix.paid'],
        description: 'x',
        active: false,
        secret: null,
      },
      {
        url: 'https://c.example.com/',
        events: ['charge.pix.paid'],
        description: 'x',
        active: false,
        has_secret: false,
      },
    ],
  ])('%j answers 200 with the endpoint as it is then', async (body, change) => {
    const answer = await patch(body);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ ...endpoint, ...change });
    expect(await stored()).toEqual(answer.body);
    expect((await patch({})).body).toEqual(answer.body);
  });

  test('of other fields leaves the secret as it is; a new one is sealed to the same endpoint', async () => {
    const context = `${caller.account_id}/${endpoint.id}`;
    const before = await sealedSecret();
    await patch({ description: 'second', active: false, url: 'https://c.example.com/' });
    expect(await sealedSecret()).toBe(before);
    await patch({ secret: 'second-secret' });
    expect(openSecret(sealingKeys.privateKeys, String(await sealedSecret()), context)).toBe(
      'second-secret',
    );
    await patch({ secret: null });
    expect(await sealedSecret()).toBeNull();
    expect((await patch({ secret: 'third-secret' })).body.has_secret).toBe(true);
  });

  test('at the same time as another one loses nothing of it', async () => {
    const changes = [
      { description: 'second' },
      { active: false },
      { events: ['charge.pix.failed'] },
      { url: 'https://c.example.com/' },
      { secret: null },
    ];
    await Promise.all(changes.map((change) => patch(change)));
    expect(await stored()).toEqual({
      ...endpoint,
      ...Object.assign({}, ...changes.slice(0, 4)),
      has_secret: false,
    });
  });

  test('finds its endpoint by an id in any case', async () => {
    const route = `PATCH /v1/webhooks/${String(endpoint.id).toUpperCase()}`;
    const answer = await api.request(caller, route, { active: false });
    expect([answer.status, answer.body.id]).toEqual([200, endpoint.id]);
  });
});

describe('a change that is refused', () => {
  test.each([
    { body: '', details: ['body'] },
    { body: 'null', details: ['body'] },
    { body: { secret: '' }, details: ['secret'] },
    { body: { secret: '1234567' }, details: ['secret'] },
    { body: { url: null, events: null, active: null }, details: ['url', 'events', 'active'] },
    { body: { events: [] }, details: ['events'] },
    { body: { active: 'false', description: 1 }, details: ['description', 'active'] },
    { body: { url: `https://a.example.com/${'a'.repeat(2027)}` }, details: ['url'] },
    { body: { url: 'http://localhost/', events: ['*'], active: 1 }, details: ['active'] },
  ])('names its faults and changes nothing: $body', async ({ body, details }) => {
    const answer = await patch(body);
    expect([answer.status, answer.body.code, answer.body.details]).toEqual([
      400,
      'VALIDATION_ERROR',
      details,
    ]);
    expect(await stored()).toEqual(endpoint);
  });

  test('by its URL before its events', async () => {
    const url = 'http://10.0.0.1/';
    const both = await patch({ url, events: ['*'], active: false });
    expect([both.status, both.body.code, both.body.details]).toEqual([
      422,
      'INVALID_WEBHOOK_URL',
      ['url'],
    ]);
    const events = await patch({ events: ['*', 'charge.pix.paid', '*', ''], active: false });
    expect([events.status, events.body.code, events.body.details]).toEqual([
      422,
      'INVALID_WEBHOOK_EVENT',
      ['*', ''],
    ]);
    expect(await stored()).toEqual(endpoint);
  });

  test('by its media type', async () => {
    const answer = await patch({ active: false }, { 'content-type': 'text/plain' });
    expect([answer.status, answer.body.details]).toEqual([400, ['content-type']]);
  });

  test.each(['', '{', '[]', { secret: '' }, { url: 'http://localhost/' }, { events: ['*'] }])(
    'by an unknown id before its body is read: %j',
    async (body) => {
      const route = `PATCH /v1/webhooks/${caller.application_id}`;
      const answer = await api.request(caller, route, body, { 'content-type': 'text/plain' });
      expect([answer.status, answer.body.code]).toEqual([404, 'WEBHOOK_NOT_FOUND']);
    },
  );
});
