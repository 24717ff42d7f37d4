import { randomUUID } from 'node:crypto';

import { Charge, Payout } from '../client/schemas.ts';
import { type ObservedCase, section, type Observe, it, faulty } from '../suite/case.ts';
import { equal, holds, shaped } from '../client/expectations.ts';
import { idsOf } from '../world/admin.ts';
import {
  bareCharge,
  barePayout,
  fourOf,
  refusedCharge,
  sisterApplication,
} from '../world/fixtures.ts';
import {
  aChargeBody,
  aPayoutBody,
  bodyWith,
  type Kind,
  list,
  type Merchant,
  postCharge,
  postPayout,
} from '../world/merchant.ts';
import { refused } from '../world/refusals.ts';
import type { World } from '../world/world.ts';

/** The table of routes; an id of nobody stands for `{id}`. */
const UNKNOWN_ID = '6f1ed0a1-3c53-4d7e-9a1b-0f6f0c1d2e3f';
const ROUTES = [
  ['POST', '/v1/charges', 'charge:write'],
  ['GET', '/v1/charges/{id}', 'charge:read'],
  ['GET', '/v1/charges', 'charge:read'],
  ['POST', '/v1/payouts', 'payout:write'],
  ['GET', '/v1/payouts/{id}', 'payout:read'],
  ['GET', '/v1/payouts', 'payout:read'],
  ['GET', '/v1/balance', 'balance:read'],
  ['GET', '/v1/account', 'account:read'],
  ['GET', '/v1/webhooks', 'webhook:read'],
  ['POST', '/v1/webhooks', 'webhook:write'],
  ['PATCH', '/v1/webhooks/{id}', 'webhook:write'],
  ['DELETE', '/v1/webhooks/{id}', 'webhook:write'],
  ['GET', '/v1/webhooks/events', null],
] as const;

const NOT_HERE = new Set([401, 403, 404, 405]);

function routeCases(): ObservedCase[] {
  return ROUTES.flatMap(([method, path, scope]) => {
    const name = `${method.toLowerCase()}-${path.replace('/v1/', '').replaceAll(/[/{}]+/g, '-')}`;
    const route = `${method} ${path.replace('{id}', UNKNOWN_ID)}`;
    const exists = it(name, `\`${method} ${path}\` exists for a key with its scope`, (w) =>
      isServed(w.own, route),
    );
    if (scope === null) return [exists];
    const scoped = it.admin(`${name}.scope`, `\`${method} ${path}\` asks for \`${scope}\``, (w) =>
      asksForScope(w, route, scope),
    );
    return [exists, scoped];
  });
}

/** With an empty body a creation is refused for its content, and an id of nobody is not found, by its own code. */
async function isServed(merchant: Merchant, route: string): Promise<void> {
  const answer = await merchant.call(route, route.startsWith('P') ? { body: {} } : {});
  if (route.includes(UNKNOWN_ID)) {
    const { code } = refused(answer, { status: 404 });
    holds(/^(CHARGE|PAYOUT|WEBHOOK)_NOT_FOUND$/.test(code), 'the resource is unknown', code);
    return;
  }
  const shown = `${answer.status} ${answer.text}`;
  holds(!NOT_HERE.has(answer.status) && answer.status < 500, 'the route answers', shown);
}

async function asksForScope(w: World, route: string, scope: string): Promise<void> {
  const [with_, without] = await Promise.all([keyWith(w, scope), keyWithout(w, scope)]);
  await isServed(with_, route);
  const answer = await without.call(route, route.startsWith('P') ? { body: {} } : {});
  refused(answer, { status: 403, code: 'INSUFFICIENT_SCOPE', details: [scope] });
}

function keyWith(w: World, scope: string): Promise<Merchant> {
  return w.once(`key with ${scope}`, () => w.admin.createKey(w.own, { scopes: [scope] }));
}

function keyWithout(w: World, scope: string): Promise<Merchant> {
  const all = new Set(ROUTES.flatMap(([, , one]) => one ?? []));
  const scopes = [...all].filter((one) => one !== scope);
  return w.once(`key without ${scope}`, () => w.admin.createKey(w.own, { scopes }));
}

export const ENDPOINT_CASES = section('endpoints', [
  it('key-on-every-call', 'Header `x-api-key` on every call', async (w) => {
    for (const [method, path] of ROUTES) {
      const route = `${method} ${path.replace('{id}', UNKNOWN_ID)}`;
      const body = method.startsWith('P') ? { body: {} } : {};
      refused(await w.own.call(route, { key: null, ...body }), {
        status: 401,
        code: 'UNAUTHORIZED',
      });
    }
  }),
  it('idempotency-required', '`POST /v1/charges` and `/v1/payouts` require the key', async (w) => {
    const expected = { status: 400, code: 'IDEMPOTENCY_KEY_REQUIRED' };
    refused(await w.own.call('POST /v1/charges', { body: aChargeBody() }), expected);
    refused(await w.own.call('POST /v1/payouts', { body: aPayoutBody() }), expected);
  }),
  it('reads-take-none', 'Read routes do not take `Idempotency-Key`', async (w) => {
    const headers = { 'idempotency-key': 'x' };
    for (const path of ['/charges', '/payouts', '/balance', '/account', '/webhooks/events']) {
      bodyWith(await w.own.call(`GET /v1${path}`, { headers }), 200);
    }
  }),
  it('webhooks-take-none', 'webhook management does not take `Idempotency-Key`', async (w) => {
    const answer = await w.own.call('POST /v1/webhooks', { body: {} });
    refused(answer, { status: 400, code: 'VALIDATION_ERROR' });
  }),
  ...routeCases(),
  it('no-other', 'No endpoint for disputes, keys or applications is shown', async (w) => {
    for (const path of ['/disputes', '/keys', '/applications']) {
      refused(await w.own.call(`GET /v1${path}`), { status: 404 });
    }
  }),
]);

export const IDEMPOTENCY_CASES = section('idempotency', [
  it('eight-characters', '`Idempotency-Key`: a string of 8 characters is enough', async (w) => {
    const key = randomUUID().slice(0, 8);
    bodyWith(await postCharge(w.own, aChargeBody(), key), 201);
  }),
  it('shorter', '`Idempotency-Key`: at least 8 characters', async (w) => {
    refused(await postCharge(w.own, aChargeBody(), 'seven77'), { status: 400 });
    refused(await postPayout(w.own, aPayoutBody(), 'seven77'), { status: 400 });
  }),
  it('unique', '`Idempotency-Key` is unique per operation: another makes another', async (w) => {
    const [one, other] = [await created(w.own), await created(w.own)];
    holds(one.id !== other.id, 'two charges', one.id);
  }),
  it('missing-charge', 'Missing header: `400` `IDEMPOTENCY_KEY_REQUIRED` (charges)', async (w) => {
    const answer = await w.own.call('POST /v1/charges', { body: aChargeBody() });
    refused(answer, { status: 400, code: 'IDEMPOTENCY_KEY_REQUIRED' });
  }),
  it('missing-payout', 'Missing header: `400` `IDEMPOTENCY_KEY_REQUIRED` (payouts)', async (w) => {
    const answer = await w.own.call('POST /v1/payouts', { body: aPayoutBody() });
    refused(answer, { status: 400, code: 'IDEMPOTENCY_KEY_REQUIRED' });
  }),
  it.admin('per-application', 'two applications may use the same value', async (w) => {
    const key = randomUUID();
    const one = await created(w.own, key);
    const other = await created(await sisterApplication(w), key);
    holds(one.id !== other.id, 'two charges', one.id);
  }),
  it.admin('per-application-not-key', 'two keys of an application share its values', async (w) => {
    const key = randomUUID();
    const second = await w.admin.createKey(w.own);
    equal((await created(second, key)).id, (await created(w.own, key)).id, 'the charge');
  }),
  it.admin('per-account', 'two accounts may use the same value', async (w) => {
    const key = randomUUID();
    const other = await w.admin.createAccount();
    holds(idsOf(other).accountId !== '', 'another account', other.ids);
    holds((await created(other, key)).id !== (await created(w.own, key)).id, 'two', key);
  }),
  it('repeated-charge', 'the same key returns the resource already created (charge)', async (w) => {
    const key = randomUUID();
    equal((await created(w.own, key)).id, (await created(w.own, key)).id, 'the charge');
  }),
  it('repeated-creates-nothing', 'repeating creates no other resource', async (w) => {
    const [key, reference] = [randomUUID(), randomUUID()];
    const body = aChargeBody({ reference });
    for (let call = 0; call < 3; call += 1) bodyWith(await postCharge(w.own, body, key), 201);
    const { data } = await list(w.own, 'charges', 'limit=100');
    equal(data.filter((one) => one.reference === reference).length, 1, 'charges of this key');
  }),
  it(
    'at-the-same-time',
    'calls with the same key at the same time make one resource',
    async (w) => {
      const key = randomUUID();
      const calls = Array.from({ length: 5 }, () => postCharge(w.own, aChargeBody(), key));
      const ids = (await Promise.all(calls)).map(
        (answer) => shaped(Charge, bodyWith(answer, 201), 'the charge').id,
      );
      equal(new Set(ids).size, 1, 'different charges');
    },
  ),
  it.funds(
    'repeated-payout',
    'the same key returns the resource already created (payout)',
    async (w) => {
      const key = randomUUID();
      const ids = [];
      for (let call = 0; call < 2; call += 1) {
        const body = bodyWith(await postPayout(w.own, aPayoutBody(), key), 201);
        ids.push(shaped(Payout, body, 'the payout').id);
      }
      equal(ids[0], ids[1], 'the payout');
    },
  ),
  faulty('repeated-failed', 'this includes a charge that ended `failed`', async (w) => {
    const { key, body } = await refusedCharge(w);
    const again = shaped(Charge, bodyWith(await postCharge(w.own, body, key), 201), 'it');
    equal(again.status, 'failed', 'status');
  }),
  faulty('new-key', 'A new attempt needs a new key', async (w) => {
    const { body } = await refusedCharge(w);
    const next = shaped(Charge, bodyWith(await postCharge(w.own, body), 201), 'the charge');
    equal(next.status, 'pending', 'status of the new attempt');
  }),
]);

async function created(merchant: Merchant, key?: string): Promise<Charge> {
  return shaped(Charge, bodyWith(await postCharge(merchant, aChargeBody(), key), 201), 'a charge');
}

type Listed = { kind: Kind; merchant: Merchant; ids: string[]; createdAt: string[] };

async function listed(w: World, kind: Kind): Promise<Listed> {
  const { merchant, items } = await fourOf(w, kind);
  const createdAt = items.map(({ created_at }) => created_at);
  return { kind, merchant, ids: items.map(({ id }) => id), createdAt };
}

async function page({ merchant, kind }: Listed, query: string) {
  const { data, has_more } = await list(merchant, kind, query);
  const createdAt = data.map(({ created_at }) => created_at);
  return { ids: data.map(({ id }) => id), createdAt, hasMore: has_more };
}

function paginationCases(kind: Kind, observe: Observe): ObservedCase[] {
  const one = (
    id: string,
    sentence: string,
    check: (four: Listed) => Promise<void>,
  ): ObservedCase =>
    observe(`${kind}-${id}`, `${sentence} (${kind})`, async (w) => check(await listed(w, kind)));
  return [
    one('limit', '`limit`: as many items as asked for', async (four) => {
      equal((await page(four, 'limit=2')).ids.length, 2, 'items');
    }),
    ...[1, 100].map((limit) =>
      one(`limit-${limit}`, `\`limit\`: integer 1 to 100; ${limit} is accepted`, async (four) => {
        holds((await page(four, `limit=${limit}`)).ids.length <= limit, 'items', limit);
      }),
    ),
    ...['0', '101', '-1', '1.5', 'abc', ''].map((limit) =>
      one(
        `limit-not-${limit}`,
        `\`limit\`: integer 1 to 100; "${limit}" is refused`,
        async (four) => {
          const answer = await four.merchant.call(`GET /v1/${four.kind}?limit=${limit}`);
          refused(answer, { status: 400, code: 'VALIDATION_ERROR', details: ['limit'] });
        },
      ),
    ),
    one('starting-after', '`starting_after`: starts at the item after it', async (four) => {
      const next = await page(four, `limit=2&starting_after=${four.ids[1]}`);
      equal(next.ids, four.ids.slice(2, 4), 'the page after the second item');
    }),
    one('starting-after-no-uuid', '`starting_after`: uuid', async (four) => {
      const answer = await four.merchant.call(`GET /v1/${four.kind}?starting_after=first`);
      refused(answer, { status: 400, code: 'VALIDATION_ERROR', details: ['starting_after'] });
    }),
    one('newest-first', 'Ordering: newest first by creation time', async (four) => {
      const { createdAt } = await page(four, 'limit=100');
      equal(createdAt, createdAt.toSorted().toReversed(), 'created_at of the page');
    }),
    one('no-count', 'No total count is returned', async ({ merchant }) => {
      const body = bodyWith(await merchant.call(`GET /v1/${kind}?limit=1`), 200) as object;
      const counts = Object.keys(body).filter((name) => /count|total/.test(name));
      equal(counts, [], 'fields with a count');
    }),
    one('continue', 'Continue while `has_more` is true, passing the last id', async (four) => {
      const before = new Date(Date.parse(four.createdAt[0] ?? '') + 1).toISOString();
      const after = new Date(Date.parse(four.createdAt[3] ?? '') - 1).toISOString();
      const filter = `limit=1&created_before=${before}&created_after=${after}`;
      const seen: string[] = [];
      for (let cursor = ''; ;) {
        const { ids, hasMore } = await page(four, filter + cursor);
        seen.push(...ids);
        if (!hasMore || seen.length > 20) break;
        cursor = `&starting_after=${ids.at(-1)}`;
      }
      equal(seen, four.ids, 'every item once, newest first');
    }),
  ];
}

export const PAGINATION_CASES = section('pagination', [
  ...paginationCases('charges', it),
  ...paginationCases('payouts', it.funds),
  it.admin('default', '`limit`: default 20', async (w) => {
    const merchant = await w.admin.createAccount();
    const calls = Array.from({ length: 21 }, () => postCharge(merchant, aChargeBody()));
    for (const answer of await Promise.all(calls)) bodyWith(answer, 201);
    const { data, has_more } = await list(merchant, 'charges');
    equal([data.length, has_more], [20, true], 'items of the page, and whether more follow');
  }),
  it.admin('empty', 'an account without charges has an empty last page', async (w) => {
    const merchant = await w.admin.createAccount();
    equal((await list(merchant, 'charges')).data, [], 'items');
  }),
  it('cursor-of-payout', 'a cursor is an id of the same list', async (w) => {
    const id = w.abilities.has('funds') ? (await barePayout(w)).id : randomUUID();
    const answer = await w.own.call(`GET /v1/charges?starting_after=${id}`);
    refused(answer, { status: 400, code: 'VALIDATION_ERROR', details: ['starting_after'] });
    const other = await w.own.call(`GET /v1/payouts?starting_after=${(await bareCharge(w)).id}`);
    refused(other, { status: 400, code: 'VALIDATION_ERROR', details: ['starting_after'] });
  }),
]);
