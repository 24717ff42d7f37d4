import { EVENT_CATALOGUE } from '@pixmesh/contracts/events/event-catalogue';
import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { aCaller } from '@pixmesh/testkit/test-callers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import {
  anEndpointBody,
  type EndpointsApi,
  type Json,
  startEndpointsApi,
} from '#test/start-endpoints-api.ts';

let api: EndpointsApi;
const owner = aCaller();

beforeAll(async () => {
  api = await startEndpointsApi();
});
afterAll(() => api[Symbol.asyncDispose]());

const create = async (caller = owner, changes = {}): Promise<Json> =>
  (await api.request(caller, 'POST /v1/webhooks', anEndpointBody(changes))).body;
const list = async (caller = owner, query = ''): Promise<Json> =>
  (await api.request(caller, `GET /v1/webhooks${query}`)).body;

describe('the list', () => {
  test('shows all endpoints of the application, newest first, on one page', async () => {
    const caller = aCaller();
    const made: Json[] = [];
    for (const name of ['a', 'b', 'c']) made.push(await create(caller, { description: name }));
    // Equal instants are ordered by their ids.
    await api.db.query(sql`
      update endpoints set created_at = '2026-01-01T00:00:00Z' where id = any (${[made[0].id, made[1].id]}::uuid[])`);
    const tied = [made[0], made[1]]
      .map((one) => ({ ...one, created_at: '2026-01-01T00:00:00.000Z' }))
      .sort((one, two) => (one.id < two.id ? 1 : -1));
    expect(await list(caller)).toEqual({
      object: 'list',
      data: [made[2], ...tied],
      has_more: false,
    });
  });

  test.each([
    '?limit=1',
    '?limit=0',
    '?limit=abc&limit=2',
    '?limit[]=1',
    `?starting_after=${newId()}`,
    '?starting_after=x&ending_before=y&status=z',
  ])('ignores paging whatever its value: %s', async (query) => {
    const caller = aCaller();
    const made = [await create(caller), await create(caller)];
    const page = await list(caller, query);
    expect(page.data.map(({ id }: Json) => id).sort()).toEqual(made.map(({ id }) => id).sort());
    expect(page.has_more).toBe(false);
  });
});

/** Everybody who is not the endpoint's own application, and every id that names nothing. */
describe('an endpoint that is not the caller’s', () => {
  const strangers = {
    'another application of the account': aCaller({ account_id: owner.account_id }),
    'another account': aCaller(),
    'the same application id under another account': aCaller({
      application_id: owner.application_id,
    }),
  };
  const routes: [string, unknown][] = [
    ['PATCH', { active: false }],
    ['PATCH', { url: 'http://localhost/' }],
    ['PATCH', '{'],
    ['DELETE', undefined],
  ];

  test.each(Object.entries(strangers))('is invisible to %s', async (_name, stranger) => {
    const endpoint = await create();
    for (const [method, body] of routes) {
      const foreign = await api.request(stranger, `${method} /v1/webhooks/${endpoint.id}`, body);
      const unknown = await api.request(stranger, `${method} /v1/webhooks/${newId()}`, body);
      expect([foreign.status, foreign.text]).toEqual([404, unknown.text]);
      expect(foreign.body).toMatchObject({ code: 'WEBHOOK_NOT_FOUND', details: [] });
      expect(headersOf(foreign)).toEqual(headersOf(unknown));
    }
    expect((await list(stranger)).data).toEqual([]);
    expect((await list()).data).toContainEqual(endpoint);
  });

  test.each(['x', 'events', 'null', '..%2Fevents', '%00', 'ç', '0'.repeat(36), 'a'.repeat(3000)])(
    'and the ill-formed id %j answer alike',
    async (id) => {
      for (const [method, body] of routes) {
        const unknown = await api.request(owner, `${method} /v1/webhooks/${newId()}`, body);
        const answer = await api.request(owner, `${method} /v1/webhooks/${id}`, body);
        expect([answer.status, answer.text]).toEqual([404, unknown.text]);
      }
    },
  );

  test('cannot be reached by a service that calls for itself', async () => {
    const endpoint = await create();
    for (const route of [
      'GET /v1/webhooks',
      'POST /v1/webhooks',
      `PATCH /v1/webhooks/${endpoint.id}`,
      `DELETE /v1/webhooks/${endpoint.id}`,
    ]) {
      expect((await api.request(null, route)).status).toBe(401);
    }
  });
});

describe('an inactive account', () => {
  test('manages its endpoints all the same', async () => {
    const { settings } = aCaller();
    const caller = aCaller({ settings: { ...settings, status: 'inactive' } });
    const endpoint = await create(caller);
    expect((await list(caller)).data).toEqual([endpoint]);
    expect((await api.request(caller, `DELETE /v1/webhooks/${endpoint.id}`)).status).toBe(204);
  });
});

describe('the catalogue', () => {
  test('has 37 entries in the order of the specification, 5 of them not dispatched', async () => {
    const { status, body } = await api.request(owner, 'GET /v1/webhooks/events?limit=0&limit=1');
    expect(status).toBe(200);
    expect(body).toMatchObject({ object: 'list', has_more: false });
    expect(body.data).toHaveLength(37);
    expect(body.data.map(({ event }: Json) => event)).toEqual(
      EVENT_CATALOGUE.map(({ event }) => event),
    );
    expect(
      body.data.filter(({ dispatched }: Json) => !dispatched).map(({ event }: Json) => event),
    ).toEqual([
      'charge.pix.expired',
      'charge.boleto.expired',
      'charge.card.authorized',
      'payment.pix.completed',
      'payment.ted.completed',
    ]);
    expect(body.data[0]).toEqual({
      event: 'charge.pix.created',
      resource: 'charge',
      method: 'pix',
      action: 'created',
      description: 'Pix charge registered',
      dispatched: true,
    });
  });
});

function headersOf(answer: { headers: Headers }): string[] {
  return [...answer.headers]
    .filter(([name]) => name !== 'date')
    .map(([name, value]) => `${name}: ${value}`);
}
