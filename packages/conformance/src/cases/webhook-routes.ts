import { randomUUID } from 'node:crypto';

import { equal, holds, oneOf, shaped } from '../client/expectations.ts';
import { CatalogEntry, Endpoint, listOf } from '../client/schemas.ts';
import { it, type ObservedCase, section } from '../suite/case.ts';
import { bodyWith } from '../world/api-client.ts';
import { catalog, sisterApplication, withEndpoint } from '../world/fixtures.ts';
import { type ErrorCode, refused } from '../world/refusals.ts';
import { until } from '../world/until.ts';
import type { World } from '../world/world.ts';
import { bodyCases, PRIVATE_URLS } from './body-cases.ts';

const SECRET = 'whsec_conformance';

export const LIST_WEBHOOKS_CASES = section('list-webhooks', [
  it('list', 'Response `200`: `{object: list, data: [webhook endpoint]}`', (w) =>
    withEndpoint(w, {}, async () => {
      await w.own.endpoints.list();
    }),
  ),
  it('own', 'an endpoint of the calling application is visible', (w) =>
    withEndpoint(w, {}, async ({ id }) => {
      const ids = (await w.own.endpoints.list()).map((endpoint) => endpoint.id);
      holds(ids.includes(id), 'it is in the list', id);
    }),
  ),
  it.admin('other-application', 'Only endpoints of the calling application are visible', (w) =>
    withEndpoint(w, {}, async ({ id }) => {
      const others = await (await sisterApplication(w)).endpoints.list();
      holds(!others.some((endpoint) => endpoint.id === id), 'not visible to another', id);
    }),
  ),
  it.admin('other-account', 'endpoints of another account are not visible', (w) =>
    withEndpoint(w, {}, async () => {
      const other = await w.admin.createAccount();
      equal(await other.endpoints.list(), [], 'endpoints of a new account');
    }),
  ),
  it.admin('same-for-every-key', 'they are the same endpoints for every key of it', (w) =>
    withEndpoint(w, {}, async ({ url }) => {
      await (await w.admin.createKey(w.own)).endpoints.find(url);
    }),
  ),
]);

const { misshapen } = bodyCases((w, changes) => w.own.endpoints.post(changes), it);

/** What a registration gives when it says this of an endpoint. */
function registers(id: string, note: string, fields: Partial<Endpoint> & { secret?: string }) {
  const { secret, ...shown } = fields;
  const expected = { ...shown, has_secret: secret !== undefined };
  const [field = ''] = id.split('.');
  return it(id, `\`${field}\`${note}`, (w) =>
    withEndpoint(w, fields, (endpoint) => equal({ ...endpoint, ...expected }, endpoint, field)),
  );
}

export const CREATE_WEBHOOK_CASES = section('create-webhook', [
  misshapen('url.required', 'required', undefined),
  misshapen('url.string', 'string', 7),
  ...['http', 'https'].map((scheme) =>
    it(`url.${scheme}`, `\`url\`: ${scheme}`, async (w) => {
      const url = `${scheme}://hooks.receiver.example.com/${randomUUID()}`;
      const endpoint = await w.own.endpoints.create({ url });
      equal(endpoint.url, url, 'url');
      await w.own.endpoints.remove(endpoint.id);
    }),
  ),
  ...PRIVATE_URLS.map(([id, url]) =>
    it(`url.not-${id}`, `\`422\` \`INVALID_WEBHOOK_URL\` for ${url}`, async (w) => {
      refused(await w.own.endpoints.post({ url }), 'INVALID_WEBHOOK_URL');
    }),
  ),
  misshapen('events.required', 'required', undefined),
  misshapen('events.empty', 'at least one event name', []),
  misshapen('events.array', 'array', 'charge.pix.paid'),
  misshapen('events.strings', 'array of string', [7]),
  registers('events.one', ': one name is enough', { events: ['charge.pix.paid'] }),
  ...[
    'charge.paid',
    'charge.pix.unknown',
    'payout.pix.created',
    'charge.pix.*',
    'CHARGE.PIX.PAID',
  ].map((name) =>
    it(`events.not-${name}`, `\`422\` when a name is outside the catalog: ${name}`, async (w) => {
      refused(await w.own.endpoints.post({ events: ['charge.pix.paid', name] }), 422);
    }),
  ),
  registers('description', ': may be given', { description: 'Loja' }),
  registers('description.absent', ' is not required', {}),
  misshapen('description.string', 'string', 7),
  registers('secret', ': 8 characters are enough', { secret: '8letters' }),
  registers('secret.absent', ' is not required', {}),
  misshapen('secret.short', 'at least 8 characters', '7letter'),
  misshapen('secret.string', 'string', 12_345_678),
  it('refused-registers-nothing', 'a refused registration leaves no endpoint', async (w) => {
    const url = `${w.hookBase}/${randomUUID()}`;
    refused(await w.own.endpoints.post({ url, events: ['charge.pix.unknown'] }), 422);
    holds(!(await w.own.endpoints.list()).some((one) => one.url === url), 'no endpoint', url);
  }),
  it('success', 'a registration succeeds with a status of success', async (w) => {
    const url = `${w.hookBase}/${randomUUID()}`;
    oneOf((await w.own.endpoints.post({ url })).status, [200, 201], 'status');
    await w.own.endpoints.remove((await w.own.endpoints.find(url)).id);
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
    const found = (await w.own.endpoints.list()).find((endpoint) => endpoint.id === id);
    return shaped(Endpoint, found, 'the endpoint after the change');
  });
}

function refusesChange(
  id: string,
  note: string,
  [value, code = 'VALIDATION_ERROR']: readonly [unknown, (ErrorCode | 422)?],
): ObservedCase {
  const [field = ''] = id.split('.');
  return it(id, `\`${field}\`: ${note}`, (w) =>
    withEndpoint(w, {}, async (endpoint) => {
      const body = { [field]: value };
      const answer = await w.own.call(`PATCH /v1/webhooks/${endpoint.id}`, { body });
      refused(answer, code, code === 'VALIDATION_ERROR' ? [field] : undefined);
      equal(await w.own.endpoints.find(endpoint.url), endpoint, 'the endpoint after the refusal');
    }),
  );
}

export const UPDATE_WEBHOOK_CASES = section('update-webhook', [
  it('url', 'Body accepts `url`', async (w) => {
    const url = `${w.hookBase}/${randomUUID()}`;
    equal((await patched(w, {}, { url })).url, url, 'url');
  }),
  it('secret', 'Body accepts `secret`', async (w) =>
    equal((await patched(w, {}, { secret: SECRET })).has_secret, true, 'has_secret'),
  ),
  ...Object.entries({
    events: ['payment.pix.failed'],
    description: 'Nova',
    active: false,
  }).map(([field, value]) =>
    it(field, `Body accepts \`${field}\``, async (w) => {
      equal({ ...(await patched(w, {}, { [field]: value })) }[field as 'active'], value, field);
    }),
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
    const one = await w.own.endpoints.create({ url: paused.url, events });
    await w.own.call(`PATCH /v1/webhooks/${one.id}`, { body: { active: false } });
    const other = await w.own.endpoints.create({ url: running.url, events });
    const { id } = await w.own.charges.create();
    await until(async () => {
      const got = (await running.deliveries()).map(({ envelope }) => envelope.data['id']);
      holds(got.includes(id), 'the endpoint beside it has the event', got);
    });
    equal(await paused.deliveries(), [], 'deliveries to the paused endpoint');
    for (const endpoint of [one, other]) await w.own.endpoints.remove(endpoint.id);
  }),
  refusesChange('url.private', 'http or https, public host', [
    'http://10.0.0.1/hook',
    'INVALID_WEBHOOK_URL',
  ]),
  refusesChange('events.unknown', 'from the catalog', [['charge.paid'], 422]),
  refusesChange('events.empty', 'at least one', [[]]),
  refusesChange('secret.short', 'at least 8 characters', ['7letter']),
  refusesChange('active.boolean', 'boolean', ['no']),
  it('missing', '`404` `WEBHOOK_NOT_FOUND`', async (w) => {
    const answer = await w.own.call(`PATCH /v1/webhooks/${randomUUID()}`, { body: {} });
    refused(answer, 'WEBHOOK_NOT_FOUND');
  }),
  it.admin('foreign', '`404` `WEBHOOK_NOT_FOUND`: of another application', (w) =>
    withEndpoint(w, {}, async ({ id }) => {
      const body = { active: false };
      const sister = await sisterApplication(w);
      refused(await sister.call(`PATCH /v1/webhooks/${id}`, { body }), 'WEBHOOK_NOT_FOUND');
      const stranger = await w.admin.createAccount();
      refused(await stranger.call(`PATCH /v1/webhooks/${id}`, { body }), 'WEBHOOK_NOT_FOUND');
    }),
  ),
]);

export const DELETE_WEBHOOK_CASES = section('delete-webhook', [
  it('removed', 'Response `204`', async (w) => {
    const { id, url } = await w.own.endpoints.create();
    await w.own.endpoints.remove(id);
    holds(!(await w.own.endpoints.list()).some((one) => one.url === url), 'it is gone', url);
  }),
  it('no-body', 'no body', async (w) => {
    const { id } = await w.own.endpoints.create();
    const answer = await w.own.call(`DELETE /v1/webhooks/${id}`);
    equal([answer.status, answer.text], [204, ''], 'status and body');
  }),
  it('unknown', 'Unknown id: `404` `WEBHOOK_NOT_FOUND`', async (w) => {
    refused(await w.own.call(`DELETE /v1/webhooks/${randomUUID()}`), 'WEBHOOK_NOT_FOUND');
  }),
  it('twice', 'an id that was removed is unknown', async (w) => {
    const { id } = await w.own.endpoints.create();
    await w.own.endpoints.remove(id);
    refused(await w.own.call(`DELETE /v1/webhooks/${id}`), 'WEBHOOK_NOT_FOUND');
  }),
  it.admin('other-account', 'id of another account: `404` `WEBHOOK_NOT_FOUND`', (w) =>
    withEndpoint(w, {}, async ({ id }) => {
      const stranger = await w.admin.createAccount();
      refused(await stranger.call(`DELETE /v1/webhooks/${id}`), 'WEBHOOK_NOT_FOUND');
    }),
  ),
  it.admin('other-application', 'id of another application: `404` `WEBHOOK_NOT_FOUND`', (w) =>
    withEndpoint(w, {}, async ({ id, url }) => {
      const sister = await w.admin.createApplication(w.own.ids.accountId);
      refused(await sister.call(`DELETE /v1/webhooks/${id}`), 'WEBHOOK_NOT_FOUND');
      await w.own.endpoints.find(url);
    }),
  ),
]);

const CATALOG_SIZE = 37;

export const LIST_EVENTS_CASES = section('list-events', [
  it('list', 'Response `200`: `{object: list, data: [event catalog entry]}`', async (w) => {
    await w.own.read('/webhooks/events', listOf(CatalogEntry));
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
