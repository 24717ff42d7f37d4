import { randomUUID } from 'node:crypto';

import { CatalogEntry, Endpoint, listOf } from '../client/schemas.ts';
import { type ObservedCase, section, it } from '../suite/case.ts';
import { equal, holds, oneOf, shaped } from '../client/expectations.ts';
import {
  catalog,
  createEndpoint,
  ENDPOINT_EVENTS,
  endpointUrl,
  findEndpoint,
  listEndpoints,
  removeEndpoint,
  sisterApplication,
  withEndpoint,
} from '../world/fixtures.ts';
import { idsOf } from '../world/admin.ts';
import { bodyWith, createCharge } from '../world/merchant.ts';
import { refused, type Refusal } from '../world/refusals.ts';
import { until } from '../world/until.ts';
import type { World } from '../world/world.ts';
import { PRIVATE_URLS, shapeFault } from './field-faults.ts';

const NO_URL: Refusal = { status: 422, code: 'INVALID_WEBHOOK_URL' };
const NOT_FOUND: Refusal = { status: 404, code: 'WEBHOOK_NOT_FOUND' };
const SECRET = 'whsec_conformance';

export const LIST_WEBHOOKS_CASES = section('list-webhooks', [
  it('list', 'Response `200`: `{object: list, data: [webhook endpoint]}`', (w) =>
    withEndpoint(w, {}, async () => {
      const body = bodyWith(await w.own.call('GET /v1/webhooks'), 200);
      shaped(listOf(Endpoint), body, 'the list');
    }),
  ),
  it('own', 'an endpoint of the calling application is visible', (w) =>
    withEndpoint(w, {}, async ({ id }) => {
      const ids = (await listEndpoints(w.own)).map((endpoint) => endpoint.id);
      holds(ids.includes(id), 'it is in the list', id);
    }),
  ),
  it.admin('other-application', 'Only endpoints of the calling application are visible', (w) =>
    withEndpoint(w, {}, async ({ id }) => {
      const others = await listEndpoints(await sisterApplication(w));
      holds(!others.some((endpoint) => endpoint.id === id), 'not visible to another', id);
    }),
  ),
  it.admin('other-account', 'endpoints of another account are not visible', (w) =>
    withEndpoint(w, {}, async () => {
      equal(await listEndpoints(await w.admin.createAccount()), [], 'endpoints of a new account');
    }),
  ),
  it.admin('same-for-every-key', 'they are the same endpoints for every key of it', (w) =>
    withEndpoint(w, {}, async ({ url }) => {
      await findEndpoint(await w.admin.createKey(w.own), url);
    }),
  ),
]);

function refusesRegistration(
  id: string,
  sentence: string,
  [changes, refusal]: readonly [object, Refusal],
): ObservedCase {
  return it(id, sentence, async (w) => {
    const body = { url: endpointUrl(w), events: ENDPOINT_EVENTS, ...changes };
    refused(await w.own.call('POST /v1/webhooks', { body }), refusal);
  });
}

function registers(
  id: string,
  sentence: string,
  [fields, look]: readonly [Record<string, unknown>, (endpoint: Endpoint) => void],
): ObservedCase {
  return it(id, sentence, (w) => withEndpoint(w, fields, look));
}

export const CREATE_WEBHOOK_CASES = section('create-webhook', [
  refusesRegistration('url.required', '`url`: required', [{ url: undefined }, shapeFault('url')]),
  refusesRegistration('url.string', '`url`: string', [{ url: 7 }, shapeFault('url')]),
  ...['http', 'https'].map((scheme) =>
    it(`url.${scheme}`, `\`url\`: ${scheme}`, async (w) => {
      const url = `${scheme}://hooks.receiver.example.com/${randomUUID()}`;
      const endpoint = await createEndpoint(w.own, { url });
      equal(endpoint.url, url, 'url');
      await removeEndpoint(w.own, endpoint.id);
    }),
  ),
  ...PRIVATE_URLS.map(([id, url]) =>
    refusesRegistration(`url.not-${id}`, `\`422\` \`INVALID_WEBHOOK_URL\` for ${url}`, [
      { url },
      NO_URL,
    ]),
  ),
  refusesRegistration('events.required', '`events`: required', [
    { events: undefined },
    shapeFault('events'),
  ]),
  refusesRegistration('events.empty', '`events`: at least one event name', [
    { events: [] },
    shapeFault('events'),
  ]),
  refusesRegistration('events.array', '`events`: array', [
    { events: 'charge.pix.paid' },
    shapeFault('events'),
  ]),
  refusesRegistration('events.strings', '`events`: array of string', [
    { events: [7] },
    shapeFault('events'),
  ]),
  registers('events.one', '`events`: one name is enough', [
    { events: ['charge.pix.paid'] },
    ({ events }) => equal(events, ['charge.pix.paid'], 'events'),
  ]),
  ...[
    'charge.paid',
    'charge.pix.unknown',
    'payout.pix.created',
    'charge.pix.*',
    'CHARGE.PIX.PAID',
  ].map((name) =>
    refusesRegistration(
      `events.not-${name}`,
      `\`422\` when a name is outside the catalog: ${name}`,
      [{ events: ['charge.pix.paid', name] }, { status: 422 }],
    ),
  ),
  registers('description', '`description`: may be given', [
    { description: 'Loja' },
    ({ description }) => equal(description, 'Loja', 'description'),
  ]),
  registers('description.absent', '`description` is not required', [
    {},
    ({ description }) => equal(typeof description, 'string', 'type of description'),
  ]),
  refusesRegistration('description.string', '`description`: string', [
    { description: 7 },
    shapeFault('description'),
  ]),
  registers('secret', '`secret`: 8 characters are enough', [
    { secret: '8letters' },
    (endpoint) => equal(endpoint.has_secret, true, 'has_secret'),
  ]),
  registers('secret.absent', '`secret` is not required', [
    {},
    (endpoint) => equal(endpoint.has_secret, false, 'has_secret'),
  ]),
  refusesRegistration('secret.short', '`secret`: at least 8 characters', [
    { secret: '7letter' },
    shapeFault('secret'),
  ]),
  refusesRegistration('secret.string', '`secret`: string', [
    { secret: 12_345_678 },
    shapeFault('secret'),
  ]),
  it('refused-registers-nothing', 'a refused registration leaves no endpoint', async (w) => {
    const url = endpointUrl(w);
    const body = { url, events: ['charge.pix.unknown'] };
    refused(await w.own.call('POST /v1/webhooks', { body }), { status: 422 });
    holds(!(await listEndpoints(w.own)).some((one) => one.url === url), 'no endpoint', url);
  }),
  it('success', 'a registration succeeds with a status of success', async (w) => {
    const url = endpointUrl(w);
    const body = { url, events: ENDPOINT_EVENTS };
    oneOf((await w.own.call('POST /v1/webhooks', { body })).status, [200, 201], 'status');
    await removeEndpoint(w.own, (await findEndpoint(w.own, url)).id);
  }),
]);

/** The endpoint after a change, as the list shows it: the answer of the change is not shown. */
async function patched(
  w: World,
  fields: Record<string, unknown>,
  changes: Record<string, unknown>,
): Promise<Endpoint> {
  return await withEndpoint(w, fields, async ({ id }) => {
    const answer = await w.own.call(`PATCH /v1/webhooks/${id}`, { body: changes });
    oneOf(answer.status, [200, 204], `status of ${answer.request}`);
    const found = (await listEndpoints(w.own)).find((endpoint) => endpoint.id === id);
    return shaped(Endpoint, found, 'the endpoint after the change');
  });
}

function refusesChange(
  id: string,
  sentence: string,
  [changes, refusal]: readonly [object, Refusal],
): ObservedCase {
  return it(id, sentence, (w) =>
    withEndpoint(w, {}, async (endpoint) => {
      const route = `PATCH /v1/webhooks/${endpoint.id}`;
      refused(await w.own.call(route, { body: changes }), refusal);
      equal(await findEndpoint(w.own, endpoint.url), endpoint, 'the endpoint after the refusal');
    }),
  );
}

export const UPDATE_WEBHOOK_CASES = section('update-webhook', [
  it('url', 'Body accepts `url`', async (w) => {
    const url = endpointUrl(w);
    equal((await patched(w, {}, { url })).url, url, 'url');
  }),
  it('events', 'Body accepts `events`', async (w) => {
    const events = ['payment.pix.failed'];
    equal((await patched(w, {}, { events })).events, events, 'events');
  }),
  it('description', 'Body accepts `description`', async (w) =>
    equal((await patched(w, {}, { description: 'Nova' })).description, 'Nova', 'description'),
  ),
  it('secret', 'Body accepts `secret`', async (w) =>
    equal((await patched(w, {}, { secret: SECRET })).has_secret, true, 'has_secret'),
  ),
  it('active', 'Body accepts `active`', async (w) =>
    equal((await patched(w, {}, { active: false })).active, false, 'active'),
  ),
  it('all-optional', 'all are optional: what is absent stays', async (w) => {
    const fields = { description: 'Fica', secret: SECRET, events: ['charge.pix.paid'] };
    const endpoint = await patched(w, fields, { active: false });
    equal(
      [endpoint.description, endpoint.has_secret, endpoint.events],
      ['Fica', true, ['charge.pix.paid']],
      'what was not in the body',
    );
  }),
  it('pause', 'only `active` false pauses without deleting', async (w) => {
    const endpoint = await patched(w, {}, { active: false });
    equal(endpoint.active, false, 'active of the endpoint that still exists');
  }),
  it.receiver('pauses-deliveries', '`active` false pauses deliveries', async (w) => {
    const [paused, running] = [w.receiver.hook(), w.receiver.hook()];
    const events = ['charge.pix.created'];
    const one = await createEndpoint(w.own, { url: paused.url, events });
    await w.own.call(`PATCH /v1/webhooks/${one.id}`, { body: { active: false } });
    const other = await createEndpoint(w.own, { url: running.url, events });
    const { id } = await createCharge(w.own);
    await until(async () => {
      const got = (await running.deliveries()).map(({ envelope }) => envelope.data['id']);
      holds(got.includes(id), 'the endpoint beside it has the event', got);
    });
    equal(await paused.deliveries(), [], 'deliveries to the paused endpoint');
    for (const endpoint of [one, other]) await removeEndpoint(w.own, endpoint.id);
  }),
  refusesChange('url.private', '`url`: http or https, public host', [
    { url: 'http://10.0.0.1/hook' },
    NO_URL,
  ]),
  refusesChange('events.unknown', '`events`: from the catalog', [
    { events: ['charge.paid'] },
    { status: 422 },
  ]),
  refusesChange('events.empty', '`events`: at least one', [{ events: [] }, shapeFault('events')]),
  refusesChange('secret.short', '`secret`: at least 8 characters', [
    { secret: '7letter' },
    shapeFault('secret'),
  ]),
  refusesChange('active.boolean', '`active`: boolean', [{ active: 'no' }, shapeFault('active')]),
  it('missing', '`404` `WEBHOOK_NOT_FOUND`', async (w) => {
    const answer = await w.own.call(`PATCH /v1/webhooks/${randomUUID()}`, { body: {} });
    refused(answer, NOT_FOUND);
  }),
  it.admin('foreign', '`404` `WEBHOOK_NOT_FOUND`: of another application', (w) =>
    withEndpoint(w, {}, async ({ id }) => {
      const body = { active: false };
      const sister = await sisterApplication(w);
      refused(await sister.call(`PATCH /v1/webhooks/${id}`, { body }), NOT_FOUND);
      const stranger = await w.admin.createAccount();
      refused(await stranger.call(`PATCH /v1/webhooks/${id}`, { body }), NOT_FOUND);
    }),
  ),
]);

export const DELETE_WEBHOOK_CASES = section('delete-webhook', [
  it('removed', 'Response `204`', async (w) => {
    const { id, url } = await createEndpoint(w.own, { url: endpointUrl(w) });
    await removeEndpoint(w.own, id);
    holds(!(await listEndpoints(w.own)).some((one) => one.url === url), 'it is gone', url);
  }),
  it('no-body', 'no body', async (w) => {
    const { id } = await createEndpoint(w.own, { url: endpointUrl(w) });
    const answer = await w.own.call(`DELETE /v1/webhooks/${id}`);
    equal([answer.status, answer.text], [204, ''], 'status and body');
  }),
  it('unknown', 'Unknown id: `404` `WEBHOOK_NOT_FOUND`', async (w) => {
    refused(await w.own.call(`DELETE /v1/webhooks/${randomUUID()}`), NOT_FOUND);
  }),
  it('twice', 'an id that was removed is unknown', async (w) => {
    const { id } = await createEndpoint(w.own, { url: endpointUrl(w) });
    await removeEndpoint(w.own, id);
    refused(await w.own.call(`DELETE /v1/webhooks/${id}`), NOT_FOUND);
  }),
  it.admin('other-account', 'id of another account: `404` `WEBHOOK_NOT_FOUND`', (w) =>
    withEndpoint(w, {}, async ({ id }) => {
      const stranger = await w.admin.createAccount();
      refused(await stranger.call(`DELETE /v1/webhooks/${id}`), NOT_FOUND);
    }),
  ),
  it.admin('other-application', 'id of another application: `404` `WEBHOOK_NOT_FOUND`', (w) =>
    withEndpoint(w, {}, async ({ id, url }) => {
      const sister = await w.admin.createApplication(idsOf(w.own).accountId);
      refused(await sister.call(`DELETE /v1/webhooks/${id}`), NOT_FOUND);
      await findEndpoint(w.own, url);
    }),
  ),
]);

const CATALOG_SIZE = 37;

export const LIST_EVENTS_CASES = section('list-events', [
  it('list', 'Response `200`: `{object: list, data: [event catalog entry]}`', async (w) => {
    const body = bodyWith(await w.own.call('GET /v1/webhooks/events'), 200);
    shaped(listOf(CatalogEntry), body, 'the list');
  }),
  it('every-event', 'for every event the platform knows', async (w) => {
    const names = new Set((await catalog(w)).map(({ event }) => event));
    holds(names.size >= CATALOG_SIZE, `at least ${CATALOG_SIZE} events`, names.size);
  }),
  it('once', 'every event is listed once', async (w) => {
    const names = (await catalog(w)).map(({ event }) => event);
    equal(new Set(names).size, names.length, 'different names');
  }),
  it.admin('no-scope', 'No scope', async (w) => {
    const key = await w.admin.createKey(w.own, { scopes: ['balance:read'] });
    bodyWith(await key.call('GET /v1/webhooks/events'), 200);
  }),
]);
