import { randomUUID } from 'node:crypto';

import { PUBLIC_ROUTES, type PublicRoute } from '@pixmesh/contracts/http/public-routes';
import { eventually } from '@pixmesh/testkit/eventually';
import { beforeAll, describe, expect, test } from 'vitest';

import { createPrincipals, type Principals } from '../fuzz/principals.ts';
import { type ReceivedAnswer, sendRequest } from '../fuzz/send-request.ts';
import { adminBody, type Merchant, simulator, stack } from './mesh.ts';

type RouteName = keyof typeof PUBLIC_ROUTES;

const ROUTE_NAMES = Object.keys(PUBLIC_ROUTES) as RouteName[];
const KINDS = ['charge', 'payout', 'webhook'] as const;
type Kind = (typeof KINDS)[number];

const ID_ROUTES = ROUTE_NAMES.filter((name) => PUBLIC_ROUTES[name].path.endsWith('/:id'));
const CURSOR_ROUTES = ['listCharges', 'listPayouts'] as const;

const FUNDS_CENTS = 100_000;
const PAYOUT_CENTS = 500;

type Resources = Record<Kind, string>;

let principals: Principals;
/** One resource of every kind, of `own`, of `foreign` and of `inactive`. */
let owned: { own: Resources; foreign: Resources; inactive: Resources };

beforeAll(async () => {
  principals = await createPrincipals();
  owned = {
    own: await createResources(principals.own),
    foreign: await createResources(principals.foreign),
    inactive: await createResources(principals.inactive),
  };
  const path = `/admin/accounts/${principals.inactive.accountId}`;
  await adminBody('PATCH', path, { status: 'inactive' });
}, 120_000);

/** A paid charge, a payout that waits for approval, and an endpoint. */
async function createResources(tenant: Merchant): Promise<Resources> {
  const charge = await created(tenant, 'createCharge', { ...aChargeBody(), amount: FUNDS_CENTS });
  await simulator.pay(charge);
  return {
    charge,
    payout: await eventually(() => created(tenant, 'createPayout'), 30_000),
    webhook: await created(tenant, 'createWebhook'),
  };
}

async function created(tenant: Merchant, route: RouteName, body?: object): Promise<string> {
  const answer = await send(route, { headers: keyOf(tenant), ...(body ? { body } : {}) });
  expect([route, answer.status, answer.text]).toEqual([route, 201, answer.text]);
  return (JSON.parse(answer.text) as { id: string }).id;
}

type CallOptions = { headers: readonly string[]; id?: string; query?: string; body?: object };

/** A call that is right in everything but perhaps its sender and its id. */
async function send(name: RouteName, call: CallOptions): Promise<ReceivedAnswer> {
  const route: PublicRoute = PUBLIC_ROUTES[name];
  const path = route.path.replace(':id', call.id ?? '');
  const headers = [...call.headers];
  if (route.creates !== null) headers.push('Idempotency-Key', randomUUID());
  const body = call.body ?? bodyOf(name);
  if (body !== undefined) headers.push('Content-Type', 'application/json');
  return await sendRequest({
    method: route.method,
    url: `${stack().gateway_url}${path}${call.query ?? ''}`,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

function keyOf({ key }: { key: string }): string[] {
  return ['x-api-key', key];
}

function bodyOf(name: RouteName): object | undefined {
  const bodies: Partial<Record<RouteName, object>> = {
    createCharge: aChargeBody(),
    createPayout: { amount: PAYOUT_CENTS, pix_key_type: 'email', pix_key: 'joao@example.com' },
    createWebhook: {
      url: 'http://shop.receiver.example.com/matrix',
      events: ['charge.pix.paid'],
    },
    updateWebhook: { description: 'changed' },
  };
  return bodies[name];
}

function aChargeBody(): object {
  const customer = { name: 'Ana Souza', email: 'ana@example.com', document: '529.982.247-25' };
  return { amount: 1_234, customer };
}

function kindOf(name: RouteName): Kind {
  return KINDS.find((kind) => PUBLIC_ROUTES[name].path.includes(`/${kind}s`)) ?? 'charge';
}

/** What differs between two answers to the very same call: of the connection, too, whose age ends it. */
const OF_ONE_ANSWER = new Set(['date', 'x-request-id', 'connection', 'keep-alive']);

/** Content of an answer, without that. */
function contentOf(answer: ReceivedAnswer): object {
  const headers = Object.entries(answer.headers).filter(([name]) => !OF_ONE_ANSWER.has(name));
  return { status: answer.status, headers: Object.fromEntries(headers), text: answer.text };
}

function errorOf(answer: ReceivedAnswer): unknown[] {
  const body = JSON.parse(answer.text) as { code: string; message: string; details: string[] };
  expect(Object.keys(body)).toEqual(['code', 'message', 'details']);
  return [answer.status, body.code, body.details];
}

function idsIn(answer: ReceivedAnswer): string[] {
  return (JSON.parse(answer.text) as { data: { id: string }[] }).data.map((one) => one.id);
}

/** What a caller with its own key of `resources` gets from a route, for ids of `resources`. */
async function expectServed(
  tenant: Merchant,
  name: RouteName,
  resources: Resources,
): Promise<void> {
  // What is deleted is made for it, so that the order of the routes does not matter.
  const isDelete = name === 'deleteWebhook';
  const id = isDelete ? await created(tenant, 'createWebhook') : resources[kindOf(name)];
  const answer = await send(name, { headers: keyOf(tenant), id });
  expect([name, answer.status]).toEqual([name, PUBLIC_ROUTES[name].status]);
  if (name.startsWith('list') && name !== 'listWebhookEvents') expect(idsIn(answer)).toContain(id);
  if (ID_ROUTES.includes(name) && !isDelete) expect(JSON.parse(answer.text).id).toBe(id);
}

describe('the own key', () => {
  test.each(ROUTE_NAMES)('is served: %s', async (name) => {
    await expectServed(principals.own, name, owned.own);
  });

  test('of an account that owns nothing else sees its own name', async () => {
    const answer = await send('getAccount', { headers: keyOf(principals.own) });
    expect(JSON.parse(answer.text).id).toBe(principals.own.accountId);
  });
});

describe('a key of another application of the account', () => {
  const shared = ROUTE_NAMES.filter((name) => !PUBLIC_ROUTES[name].path.startsWith('/v1/webhooks'));

  test.each(shared)('is served with what is of the account: %s', async (name) => {
    await expectServed(principals.sibling, name, owned.own);
  });

  test.each(['updateWebhook', 'deleteWebhook'] as const)(
    'finds no endpoint of the first one: %s',
    async (name) => {
      const id = owned.own.webhook;
      const answer = await send(name, { headers: keyOf(principals.sibling), id });
      expect(errorOf(answer)).toEqual([404, 'WEBHOOK_NOT_FOUND', []]);
      const list = await send('listWebhooks', { headers: keyOf(principals.own) });
      expect(idsIn(list)).toContain(id);
    },
  );

  test('lists and makes endpoints of its own alone', async () => {
    const id = await created(principals.sibling, 'createWebhook');
    const list = await send('listWebhooks', { headers: keyOf(principals.sibling) });
    expect(idsIn(list)).toContain(id);
    expect(idsIn(list)).not.toContain(owned.own.webhook);
    const other = await send('listWebhooks', { headers: keyOf(principals.own) });
    expect(idsIn(other)).not.toContain(id);
  });

  test('takes any cursor of the account', async () => {
    for (const name of CURSOR_ROUTES) {
      const query = `?starting_after=${owned.own[kindOf(name)]}`;
      const answer = await send(name, { headers: keyOf(principals.sibling), query });
      expect([name, answer.status]).toEqual([name, 200]);
    }
  });
});

describe('a key of another account', () => {
  test.each(ID_ROUTES)('cannot tell a foreign id from one that never was: %s', async (name) => {
    const id = owned.own[kindOf(name)];
    const others = [
      id.toUpperCase(),
      randomUUID(),
      randomUUID().toUpperCase(),
      '00000000-0000-0000-0000-000000000000',
      'not-a-uuid',
      `${id}0`,
      id.slice(1),
      id.replaceAll('-', ''),
      `{${id}}`,
      `urn:uuid:${id}`,
      `%20${id}`,
      `${id}%00`,
      '%2e%2e',
      'a'.repeat(2_000),
    ];
    const foreign = await send(name, { headers: keyOf(principals.foreign), id });
    expect(errorOf(foreign)).toEqual([404, `${kindOf(name).toUpperCase()}_NOT_FOUND`, []]);
    for (const other of others) {
      const answer = await send(name, { headers: keyOf(principals.foreign), id: other });
      expect([other, contentOf(answer)]).toEqual([other, contentOf(foreign)]);
    }
    const own = await send(name, { headers: keyOf(principals.own), id: 'not-a-uuid' });
    expect(contentOf(own)).toEqual(contentOf(foreign));
  });

  test('changes nothing by asking', async () => {
    const before = await send('listWebhooks', { headers: keyOf(principals.own) });
    for (const name of ['updateWebhook', 'deleteWebhook'] as const) {
      await send(name, { headers: keyOf(principals.foreign), id: owned.own.webhook });
    }
    const after = await send('listWebhooks', { headers: keyOf(principals.own) });
    expect(after.text).toBe(before.text);
  });

  test.each(['listCharges', 'listPayouts', 'listWebhooks'] as const)(
    'sees nothing of the first account: %s',
    async (name) => {
      const answer = await send(name, { headers: keyOf(principals.foreign) });
      expect(idsIn(answer)).toContain(owned.foreign[kindOf(name)]);
      expect(idsIn(answer)).not.toContain(owned.own[kindOf(name)]);
    },
  );

  test('reads its own account and its own balance', async () => {
    const account = await send('getAccount', { headers: keyOf(principals.foreign) });
    expect(JSON.parse(account.text).id).toBe(principals.foreign.accountId);
    const before = await send('getBalance', { headers: keyOf(principals.foreign) });
    await created(principals.own, 'createPayout');
    const after = await send('getBalance', { headers: keyOf(principals.foreign) });
    expect(after.text).toBe(before.text);
  });

  test.each(['createCharge', 'createPayout'] as const)(
    'makes another resource with the same Idempotency-Key: %s',
    async (name) => {
      const key = randomUUID();
      const ids = [];
      for (const tenant of [principals.own, principals.sibling, principals.foreign]) {
        const answer = await sendRequest({
          method: 'POST',
          url: stack().gateway_url + PUBLIC_ROUTES[name].path,
          headers: [...keyOf(tenant), 'Idempotency-Key', key, 'Content-Type', 'application/json'],
          body: JSON.stringify(bodyOf(name)),
        });
        expect(answer.status).toBe(201);
        expect(answer.headers['idempotent-replayed']).toBeUndefined();
        ids.push((JSON.parse(answer.text) as { id: string }).id);
      }
      expect(new Set(ids).size).toBe(3);
    },
  );

  test.each(CURSOR_ROUTES)(
    'cannot tell a foreign cursor from one that never was: %s',
    async (name) => {
      const cursor = (value: string) =>
        send(name, { headers: keyOf(principals.foreign), query: `?starting_after=${value}` });
      const id = owned.own[kindOf(name)];
      const foreign = await cursor(id);
      expect(errorOf(foreign)).toEqual([400, 'VALIDATION_ERROR', ['starting_after']]);
      const otherKind = name === 'listCharges' ? owned.foreign.payout : owned.foreign.charge;
      for (const other of [randomUUID(), id.toUpperCase(), 'not-a-uuid', '', otherKind]) {
        expect([other, contentOf(await cursor(other))]).toEqual([other, contentOf(foreign)]);
      }
      // Filters and page size play no part in it.
      for (const rest of ['&limit=1', '&limit=100', '&method=pix', '&created_after=2020-01-01']) {
        expect([rest, contentOf(await cursor(id + rest))]).toEqual([rest, contentOf(foreign)]);
      }
      expect((await cursor(owned.foreign[kindOf(name)])).status).toBe(200);
    },
  );
});

describe('a key without the scope of the route', () => {
  test.each(ROUTE_NAMES)('is told that scope and nothing else: %s', async (name) => {
    const { scope } = PUBLIC_ROUTES[name];
    const key = scope === null ? principals.scopeless : principals.lacking[scope];
    const ids = [owned.own[kindOf(name)], owned.foreign[kindOf(name)], randomUUID(), 'x'];
    for (const id of ids) {
      const answer = await send(name, { headers: keyOf({ key }), id });
      if (scope === null) expect(answer.status).toBe(200);
      else expect(errorOf(answer)).toEqual([403, 'INSUFFICIENT_SCOPE', [scope]]);
    }
  });

  test.each(ROUTE_NAMES)('and without any scope is told the same: %s', async (name) => {
    const { scope } = PUBLIC_ROUTES[name];
    const id = owned.own[kindOf(name)];
    const answer = await send(name, { headers: keyOf({ key: principals.scopeless }), id });
    if (scope === null) expect(answer.status).toBe(200);
    else expect(errorOf(answer)).toEqual([403, 'INSUFFICIENT_SCOPE', [scope]]);
  });

  test.each(ROUTE_NAMES)('is refused before anything else is looked at: %s', async (name) => {
    const { scope, path, method } = PUBLIC_ROUTES[name];
    if (scope === null) return;
    const answer = await sendRequest({
      method,
      url: `${stack().gateway_url}${path.replace(':id', '%00')}?limit=0&limit=x`,
      headers: [...keyOf({ key: principals.lacking[scope] }), 'Content-Type', 'text/plain'],
      ...(method === 'GET' ? {} : { body: '{' }),
    });
    expect(errorOf(answer)).toEqual([403, 'INSUFFICIENT_SCOPE', [scope]]);
  });
});

describe('a stranger', () => {
  test.each(ROUTE_NAMES)('gets one and the same vague 401, whoever it is: %s', async (name) => {
    const id = owned.own[kindOf(name)];
    const first = await send(name, { headers: [], id });
    expect(errorOf(first)).toEqual([401, 'UNAUTHORIZED', []]);
    for (const [stranger, headers] of Object.entries(principals.strangers)) {
      for (const one of [id, randomUUID(), 'x']) {
        const answer = await send(name, { headers, id: one });
        expect([stranger, contentOf(answer)]).toEqual([stranger, contentOf(first)]);
      }
    }
  });

  test('is not let in by a key in the query', async () => {
    for (const parameter of ['x-api-key', 'api_key', 'key']) {
      const query = `?${parameter}=${principals.own.key}`;
      expect(errorOf(await send('getAccount', { headers: [], query }))).toEqual([
        401,
        'UNAUTHORIZED',
        [],
      ]);
    }
  });

  test('is refused before anything else is looked at', async () => {
    for (const name of ROUTE_NAMES) {
      const { path, method } = PUBLIC_ROUTES[name];
      const answer = await sendRequest({
        method,
        url: `${stack().gateway_url}${path.replace(':id', '%00')}?limit=0&limit=x`,
        headers: ['Content-Type', 'text/plain'],
        ...(method === 'GET' ? {} : { body: '{' }),
      });
      expect([name, ...errorOf(answer)]).toEqual([name, 401, 'UNAUTHORIZED', []]);
    }
  });
});

describe('a key of an inactive account', () => {
  const refused: Partial<Record<RouteName, unknown[]>> = {
    createCharge: [422, 'ACCOUNT_INACTIVE', []],
    createPayout: [422, 'PAYOUTS_DISABLED', []],
  };

  test.each(ROUTE_NAMES)('moves no money and does everything else: %s', async (name) => {
    const expected = refused[name];
    if (expected === undefined) {
      await expectServed(principals.inactive, name, owned.inactive);
      return;
    }
    const answer = await send(name, { headers: keyOf(principals.inactive) });
    expect(errorOf(answer)).toEqual(expected);
  });

  test('finds as little of others as any key', async () => {
    for (const name of ID_ROUTES) {
      const foreign = await send(name, {
        headers: keyOf(principals.inactive),
        id: owned.own[kindOf(name)],
      });
      const unknown = await send(name, { headers: keyOf(principals.inactive), id: randomUUID() });
      expect(foreign.status).toBe(404);
      expect(contentOf(foreign)).toEqual(contentOf(unknown));
    }
  });
});
