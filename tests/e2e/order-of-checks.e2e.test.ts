import { randomUUID } from 'node:crypto';

import { PUBLIC_ROUTES, type PublicRoute } from '@pixmesh/contracts/http/public-routes';
import { beforeAll, describe, expect, test } from 'vitest';

import { anApprovedMerchant } from '../fuzz/principals.ts';
import { type ReceivedAnswer, sendRequest } from '../fuzz/send-request.ts';
import { adminBody, aKeyOf, type Merchant, stack } from './mesh.ts';
import { fund } from './payout-calls.ts';

type RouteName = keyof typeof PUBLIC_ROUTES;
const ROUTE_NAMES = Object.keys(PUBLIC_ROUTES) as RouteName[];

/** Larger than any body may be. */
const TOO_LARGE = ' '.repeat(70_000);
const FUNDS_CENTS = 100_000;

/** A request in parts, so that several faults fit into one. */
type Sent = {
  key: string | null;
  idempotencyKey: string | null;
  id: string;
  query: string;
  headers: string[];
  body: Record<string, unknown>;
  /** Goes in place of the body. */
  text: string | null;
};

/** Status, code and details of a refusal. */
type Refusal = readonly [number, string, readonly string[]];

type Fault = {
  name: string;
  /** What a request of this route with this fault alone is told; null where it can have no such fault. */
  refusalOn: (route: PublicRoute, name: RouteName) => Refusal | null;
  commit: (sent: Sent) => void;
};

let merchant: Merchant;
let inactive: Merchant;
let scopeless: string;
/** Endpoints of `merchant` and of `inactive`, for updates. */
const endpoints = new Map<Merchant, string>();

beforeAll(async () => {
  merchant = await anApprovedMerchant();
  inactive = await anApprovedMerchant();
  scopeless = (await aKeyOf(merchant.applicationId, { scopes: [] })).key;
  for (const one of [merchant, inactive]) {
    const answer = await send('createWebhook', aRequest('createWebhook', { key: one.key }));
    endpoints.set(one, (JSON.parse(answer.text) as { id: string }).id);
  }
  await adminBody('PATCH', `/admin/accounts/${inactive.accountId}`, { status: 'inactive' });
}, 60_000);

const ofBody = (refusal: Refusal) => (route: PublicRoute) => (route.body === null ? null : refusal);
const invalid = (detail: string): Refusal => [400, 'VALIDATION_ERROR', [detail]];
const ofCreation =
  (refusal: Refusal) =>
  ({ creates }: PublicRoute) =>
    creates === null ? null : refusal;

const LOCAL_URL = 'http://127.0.0.1/hook';

/** Every fault of a request, in the order in which decision 12 has them answered; 3, 14, 150 and 155 beside it. */
const FAULTS: readonly Fault[] = [
  {
    name: 'no key',
    refusalOn: () => [401, 'UNAUTHORIZED', []],
    commit: (sent) => (sent.key = null),
  },
  {
    name: 'no scope',
    refusalOn: ({ scope }) => (scope === null ? null : [403, 'INSUFFICIENT_SCOPE', [scope]]),
    commit: (sent) => (sent.key &&= scopeless),
  },
  {
    name: 'no Idempotency-Key',
    refusalOn: ofCreation([400, 'IDEMPOTENCY_KEY_REQUIRED', []]),
    commit: (sent) => (sent.idempotencyKey = null),
  },
  {
    name: 'an ill-formed Idempotency-Key',
    refusalOn: ofCreation(invalid('Idempotency-Key')),
    commit: (sent) => (sent.idempotencyKey &&= 'k'.repeat(256)),
  },
  {
    // Nothing of such a body is received, so nothing can be looked up for it either.
    name: 'too large a body',
    refusalOn: ofBody([413, 'PAYLOAD_TOO_LARGE', []]),
    commit: (sent) => (sent.text = TOO_LARGE),
  },
  {
    name: 'an unknown id',
    refusalOn: ({ path, errors }) => {
      const code = errors.find((one) => one.endsWith('_NOT_FOUND'));
      return path.endsWith('/:id') && code !== undefined ? [404, code, []] : null;
    },
    commit: (sent) => (sent.id = randomUUID()),
  },
  {
    name: 'a query that is none',
    refusalOn: ({ query }) => (query === null ? null : invalid('limit')),
    commit: (sent) => (sent.query = '?limit=0'),
  },
  {
    name: 'a content coding',
    refusalOn: ofBody(invalid('content-encoding')),
    commit: ({ headers }) => headers.push('Content-Encoding', 'gzip'),
  },
  {
    name: 'two media types',
    refusalOn: ofBody(invalid('content-type')),
    commit: ({ headers }) => headers.push('Content-Type', 'application/json'),
  },
  {
    name: 'no JSON',
    refusalOn: ofBody(invalid('body')),
    commit: (sent) => (sent.text ??= '{'),
  },
  {
    name: 'a faulty shape',
    refusalOn: ofBody(invalid('description')),
    commit: ({ body }) => (body['description'] = 7),
  },
  {
    name: 'another method of payment',
    refusalOn: ofCreation([400, 'METHOD_NOT_SUPPORTED', []]),
    commit: ({ body }) => (body['method'] = 'card'),
  },
  {
    name: 'too small an amount',
    refusalOn: ofCreation([400, 'AMOUNT_BELOW_MINIMUM', []]),
    commit: ({ body }) => (body['amount'] = 1),
  },
  {
    name: 'a wrong document',
    refusalOn: ({ creates }) =>
      creates === 'charge' ? [400, 'INVALID_DOCUMENT', ['customer.document']] : null,
    commit: ({ body }) =>
      (body['customer'] = { name: 'Ana', email: 'ana@example.com', document: '529.982.247-24' }),
  },
  {
    name: 'a local URL',
    refusalOn: ({ body, creates }) => {
      if (body === null) return null;
      return [422, 'INVALID_WEBHOOK_URL', [creates === null ? 'url' : 'webhook_url']];
    },
    commit: ({ body }) => {
      body['webhook_url'] = LOCAL_URL;
      body['url'] = LOCAL_URL;
    },
  },
  {
    name: 'an unknown event',
    refusalOn: ({ body, creates }) =>
      body === null || creates !== null ? null : [422, 'INVALID_WEBHOOK_EVENT', ['charge.paid']],
    commit: ({ body }) => (body['events'] = ['charge.paid']),
  },
  {
    name: 'an inactive account',
    refusalOn: (_route, name) => {
      if (name === 'createCharge') return [422, 'ACCOUNT_INACTIVE', []];
      return name === 'createPayout' ? [422, 'PAYOUTS_DISABLED', []] : null;
    },
    commit: (sent) => (sent.key = sent.key === merchant.key ? inactive.key : sent.key),
  },
  {
    name: 'no money',
    refusalOn: ({ creates }) => (creates === 'payout' ? [400, 'INSUFFICIENT_BALANCE', []] : null),
    commit: ({ body }) => (body['amount'] = body['amount'] === 1 ? 1 : 99_999_999),
  },
];

const BODIES: Partial<Record<RouteName, object>> = {
  createCharge: {
    amount: 1_234,
    customer: { name: 'Ana Souza', email: 'ana@example.com', document: '529.982.247-25' },
  },
  createPayout: { amount: 500, pix_key_type: 'email', pix_key: 'joao@example.com' },
  createWebhook: { url: 'http://shop.receiver.example.com/order', events: ['charge.pix.failed'] },
};

/** A request without a fault. */
function aRequest(name: RouteName, changes: Partial<Sent> = {}): Sent {
  return {
    key: merchant.key,
    idempotencyKey: randomUUID(),
    id: endpoints.get(merchant) ?? randomUUID(),
    query: '',
    headers: ['Content-Type', 'application/json'],
    body: structuredClone({ ...BODIES[name] }),
    text: null,
    ...changes,
  };
}

async function send(name: RouteName, sent: Sent): Promise<ReceivedAnswer> {
  const route: PublicRoute = PUBLIC_ROUTES[name];
  const headers = [...sent.headers];
  if (sent.key !== null) headers.push('x-api-key', sent.key);
  if (sent.idempotencyKey !== null) headers.push('Idempotency-Key', sent.idempotencyKey);
  return await sendRequest({
    method: route.method,
    url: stack().gateway_url + route.path.replace(':id', sent.id) + sent.query,
    headers,
    ...(route.method === 'GET' ? {} : { body: sent.text ?? JSON.stringify(sent.body) }),
  });
}

function readRefusal({ status, text }: ReceivedAnswer): Refusal {
  const { code, details } = JSON.parse(text) as { code: string; details: string[] };
  return [status, code, details];
}

describe('of two faults in one request the earlier one answers', () => {
  test.each(ROUTE_NAMES)('%s', async (name) => {
    const route: PublicRoute = PUBLIC_ROUTES[name];
    const faults = FAULTS.map((fault) => ({ ...fault, refusal: fault.refusalOn(route, name) }));
    const possible = faults.filter(({ refusal }) => refusal !== null);
    for (const [index, first] of possible.entries()) {
      for (const second of [first, ...possible.slice(index + 1)]) {
        const sent = aRequest(name);
        first.commit(sent);
        if (second !== first) second.commit(sent);
        const pair = `${first.name} and ${second.name}`;
        expect([pair, ...readRefusal(await send(name, sent))]).toEqual([
          pair,
          ...(first.refusal ?? []),
        ]);
      }
    }
    // All at once, each last one taken away: who commits the earlier faults later spares them from being undone.
    for (let count = possible.length; count > 0; count -= 1) {
      const sent = aRequest(name);
      for (const fault of possible.slice(-count).toReversed()) fault.commit(sent);
      const first = possible.at(-count);
      const all = `${first?.name} and all that come after it`;
      expect([all, ...readRefusal(await send(name, sent))]).toEqual([
        all,
        ...(first?.refusal ?? []),
      ]);
    }
  });
});

/** Faults that a look-up comes before: of the body, and of the account since. */
const LATER = FAULTS.slice(FAULTS.findIndex(({ name }) => name === 'a content coding'));

test.each(['createCharge', 'createPayout'] as const)(
  'a key that names a resource already is answered with it, whatever is wrong with the rest: %s',
  async (name) => {
    const payer = await anApprovedMerchant();
    await fund(payer, FUNDS_CENTS);
    const idempotencyKey = randomUUID();
    const again = () => aRequest(name, { key: payer.key, idempotencyKey });
    const first = await send(name, again());
    expect([first.status, first.headers['idempotent-replayed']]).toEqual([201, undefined]);
    const { id } = JSON.parse(first.text) as { id: string };
    const expectReplay = async (what: string, sent: Sent, mismatch: 'true' | undefined) => {
      const { status, headers, text } = await send(name, sent);
      expect([what, status, (JSON.parse(text) as { id: string }).id]).toEqual([what, 201, id]);
      expect([headers['idempotent-replayed'], what, headers['idempotency-mismatch']]).toEqual([
        'true',
        what,
        mismatch,
      ]);
    };
    for (const status of ['active', 'inactive']) {
      await adminBody('PATCH', `/admin/accounts/${payer.accountId}`, { status });
      await expectReplay('nothing', again(), undefined);
      for (const fault of LATER) {
        if (fault.refusalOn(PUBLIC_ROUTES[name], name) === null) continue;
        if (fault.name === 'an inactive account') continue;
        const sent = again();
        fault.commit(sent);
        await expectReplay(fault.name, sent, 'true');
      }
    }
  },
);

test('what a route without a body is sent as one changes nothing', async () => {
  for (const name of ROUTE_NAMES) {
    const route: PublicRoute = PUBLIC_ROUTES[name];
    if (route.body !== null || route.method === 'GET') continue;
    for (const fault of FAULTS) {
      if (fault.refusalOn(PUBLIC_ROUTES.createCharge, 'createCharge') === null) continue;
      const sent = aRequest(name, { id: randomUUID() });
      fault.commit(sent);
      const own = fault.refusalOn(route, name);
      expect([fault.name, ...readRefusal(await send(name, sent))]).toEqual([
        fault.name,
        ...(own ?? [404, 'WEBHOOK_NOT_FOUND', []]),
      ]);
    }
  }
});
