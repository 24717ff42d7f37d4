import { randomUUID } from 'node:crypto';

import { equal, holds } from '../client/expectations.ts';
import { it, type Observe, type ObservedCase, section } from '../suite/case.ts';
import { SCOPES } from '../world/admin.ts';
import { bodyWith } from '../world/api-client.ts';
import {
  bareCharge,
  barePayout,
  fourOf,
  keyWith,
  refusedCharge,
  sisterApplication,
} from '../world/fixtures.ts';
import type { Kind, Merchant } from '../world/merchant.ts';
import { refused } from '../world/refusals.ts';
import type { World } from '../world/world.ts';
import { callEmpty, ROUTES } from './routes.ts';

const NOT_HERE = new Set([401, 403, 404, 405]);

function routeCases(): ObservedCase[] {
  return ROUTES.flatMap(([route, scope]) => {
    const [method = '', path = ''] = route.split(' /v1/');
    const name = `${method.toLowerCase()}-${path.replaceAll(/[/{}]+/g, '-')}`;
    const exists = it(name, `\`${route}\` exists for a key with its scope`, (w) =>
      isServed(w.own, route),
    );
    if (scope === null) return [exists];
    const scoped = it.admin(`${name}.scope`, `\`${route}\` asks for \`${scope}\``, (w) =>
      asksForScope(w, route, scope),
    );
    return [exists, scoped];
  });
}

/** With an empty body a creation is refused for its content, and an id of nobody is not found, by its own code. */
async function isServed(merchant: Merchant, route: string): Promise<void> {
  const answer = await callEmpty(merchant, route);
  if (route.includes('{id}')) {
    const { code } = refused(answer, 404);
    holds(/^(CHARGE|PAYOUT|WEBHOOK)_NOT_FOUND$/.test(code), 'the resource is unknown', code);
    return;
  }
  const shown = `${answer.status} ${answer.text}`;
  holds(!NOT_HERE.has(answer.status) && answer.status < 500, 'the route answers', shown);
}

async function asksForScope(w: World, route: string, scope: string): Promise<void> {
  const [with_, without] = await Promise.all([keyWith(w, scope), keyWithout(w, scope)]);
  await isServed(with_, route);
  refused(await callEmpty(without, route), 'INSUFFICIENT_SCOPE', [scope]);
}

function keyWithout(w: World, scope: string): Promise<Merchant> {
  const scopes = SCOPES.filter((one) => one !== scope);
  return w.once(`key without ${scope}`, () => w.admin.createKey(w.own, { scopes }));
}

export const ENDPOINT_CASES = section('endpoints', [
  it('key-on-every-call', 'Header `x-api-key` on every call', async (w) => {
    for (const [route] of ROUTES) {
      refused(await callEmpty(w.own, route, { key: null }), 'UNAUTHORIZED');
    }
  }),
  it('idempotency-required', '`POST /v1/charges` and `/v1/payouts` require the key', async (w) => {
    refused(await w.own.charges.post({}, null), 'IDEMPOTENCY_KEY_REQUIRED');
    refused(await w.own.payouts.post({}, null), 'IDEMPOTENCY_KEY_REQUIRED');
  }),
  it('reads-take-none', 'Read routes do not take `Idempotency-Key`', async (w) => {
    const headers = { 'idempotency-key': 'x' };
    for (const path of ['/charges', '/payouts', '/balance', '/account', '/webhooks/events']) {
      bodyWith(await w.own.call(`GET /v1${path}`, { headers }), 200);
    }
  }),
  it('webhooks-take-none', 'webhook management does not take `Idempotency-Key`', async (w) => {
    refused(await w.own.call('POST /v1/webhooks', { body: {} }), 'VALIDATION_ERROR');
  }),
  ...routeCases(),
  it('no-other', 'No endpoint for disputes, keys or applications is shown', async (w) => {
    for (const path of ['/disputes', '/keys', '/applications']) {
      refused(await w.own.call(`GET /v1${path}`), 404);
    }
  }),
]);

export const IDEMPOTENCY_CASES = section('idempotency', [
  it('eight-characters', '`Idempotency-Key`: a string of 8 characters is enough', async (w) => {
    const key = randomUUID().slice(0, 8);
    bodyWith(await w.own.charges.post({}, key), 201);
  }),
  it('shorter', '`Idempotency-Key`: at least 8 characters', async (w) => {
    refused(await w.own.charges.post({}, 'seven77'), 400);
    refused(await w.own.payouts.post({}, 'seven77'), 400);
  }),
  it('unique', '`Idempotency-Key` is unique per operation: another makes another', async (w) => {
    const [one, other] = [await w.own.charges.create(), await w.own.charges.create()];
    holds(one.id !== other.id, 'two charges', one.id);
  }),
  it('missing-charge', 'Missing header: `400` `IDEMPOTENCY_KEY_REQUIRED` (charges)', async (w) => {
    refused(await w.own.charges.post({}, null), 'IDEMPOTENCY_KEY_REQUIRED');
  }),
  it('missing-payout', 'Missing header: `400` `IDEMPOTENCY_KEY_REQUIRED` (payouts)', async (w) => {
    refused(await w.own.payouts.post({}, null), 'IDEMPOTENCY_KEY_REQUIRED');
  }),
  it.admin('per-application', 'two applications may use the same value', async (w) => {
    const key = randomUUID();
    const one = await w.own.charges.create({}, key);
    const other = await (await sisterApplication(w)).charges.create({}, key);
    holds(one.id !== other.id, 'two charges', one.id);
  }),
  it.admin('per-application-not-key', 'two keys of an application share its values', async (w) => {
    const key = randomUUID();
    const second = await w.admin.createKey(w.own);
    const { id } = await w.own.charges.create({}, key);
    equal((await second.charges.create({}, key)).id, id, 'the charge');
  }),
  it.admin('per-account', 'two accounts may use the same value', async (w) => {
    const key = randomUUID();
    const other = await w.admin.createAccount();
    holds(other.ids.accountId !== '', 'another account', other.ids);
    const { id } = await w.own.charges.create({}, key);
    holds((await other.charges.create({}, key)).id !== id, 'two', key);
  }),
  it('repeated-charge', 'the same key returns the resource already created (charge)', async (w) => {
    const key = randomUUID();
    const { id } = await w.own.charges.create({}, key);
    equal((await w.own.charges.create({}, key)).id, id, 'the charge');
  }),
  it('repeated-creates-nothing', 'repeating creates no other resource', async (w) => {
    const [key, reference] = [randomUUID(), randomUUID()];
    for (let call = 0; call < 3; call += 1) await w.own.charges.create({ reference }, key);
    const { data } = await w.own.charges.list('limit=100');
    equal(data.filter((one) => one.reference === reference).length, 1, 'charges of this key');
  }),
  it(
    'at-the-same-time',
    'calls with the same key at the same time make one resource',
    async (w) => {
      const key = randomUUID();
      const calls = Array.from({ length: 5 }, () => w.own.charges.create({}, key));
      const ids = (await Promise.all(calls)).map(({ id }) => id);
      equal(new Set(ids).size, 1, 'different charges');
    },
  ),
  it.funds(
    'repeated-payout',
    'the same key returns the resource already created (payout)',
    async (w) => {
      const key = randomUUID();
      const { id } = await w.own.payouts.create({}, key);
      equal((await w.own.payouts.create({}, key)).id, id, 'the payout');
    },
  ),
  it.simulator('repeated-failed', 'this includes a charge that ended `failed`', async (w) => {
    const { key, body } = await refusedCharge(w);
    equal((await w.own.charges.create(body, key)).status, 'failed', 'status');
  }),
  it.simulator('new-key', 'A new attempt needs a new key', async (w) => {
    const { body } = await refusedCharge(w);
    // What its URL receives is counted by another case.
    const again = { ...body, webhook_url: null };
    equal((await w.own.charges.create(again)).status, 'pending', 'status of the new attempt');
  }),
]);

type Listed = { kind: Kind; merchant: Merchant; ids: string[]; createdAt: string[] };

async function listed(w: World, kind: Kind): Promise<Listed> {
  const { merchant, items } = await fourOf(w, kind);
  const createdAt = items.map(({ created_at }) => created_at);
  return { kind, merchant, ids: items.map(({ id }) => id), createdAt };
}

async function page({ merchant, kind }: Listed, query: string) {
  const { data, has_more } = await merchant[kind].list(query);
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
          refused(answer, 'VALIDATION_ERROR', ['limit']);
        },
      ),
    ),
    one('starting-after', '`starting_after`: starts at the item after it', async (four) => {
      const next = await page(four, `limit=2&starting_after=${four.ids[1]}`);
      equal(next.ids, four.ids.slice(2, 4), 'the page after the second item');
    }),
    one('starting-after-no-uuid', '`starting_after`: uuid', async (four) => {
      const answer = await four.merchant.call(`GET /v1/${four.kind}?starting_after=first`);
      refused(answer, 'VALIDATION_ERROR', ['starting_after']);
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
    await Promise.all(Array.from({ length: 21 }, () => merchant.charges.create()));
    const { data, has_more } = await merchant.charges.list();
    equal([data.length, has_more], [20, true], 'items of the page, and whether more follow');
  }),
  it.admin('empty', 'an account without charges has an empty last page', async (w) => {
    const merchant = await w.admin.createAccount();
    equal((await merchant.charges.list()).data, [], 'items');
  }),
  it('cursor-of-payout', 'a cursor is an id of the same list', async (w) => {
    const id = w.abilities.has('funds') ? (await barePayout(w)).id : randomUUID();
    const answer = await w.own.call(`GET /v1/charges?starting_after=${id}`);
    refused(answer, 'VALIDATION_ERROR', ['starting_after']);
    const other = await w.own.call(`GET /v1/payouts?starting_after=${(await bareCharge(w)).id}`);
    refused(other, 'VALIDATION_ERROR', ['starting_after']);
  }),
]);
