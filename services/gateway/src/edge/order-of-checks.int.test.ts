import { PUBLIC_ROUTES, type PublicRoute } from '@pixmesh/contracts/http/public-routes';
import { toErrorAnswer } from '@pixmesh/http/error-reply';
import { readJsonBody } from '@pixmesh/http/json-request';
import { BODY_BYTES_MAX } from '@pixmesh/http/service-app';
import { AppError } from '@pixmesh/kernel/app-error';
import { newId } from '@pixmesh/kernel/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { type Answer, sendRequest } from '#test/send-request.ts';
import { answerJson, type FakeOwner } from '#test/start-fake-owner.ts';
import { startTestGateway, type TestGateway } from '#test/start-test-gateway.ts';

type RouteName = keyof typeof PUBLIC_ROUTES;
const ROUTE_NAMES = Object.keys(PUBLIC_ROUTES) as RouteName[];

const LARGE_BODY = 'x'.repeat(BODY_BYTES_MAX + 1);
const TWO_TYPES = ['Content-Type', 'application/json', 'Content-Type', 'application/json'];

let gateway: TestGateway;
let key: string;
let scopeless: string;

beforeAll(async () => {
  gateway = await startTestGateway();
  ({ key } = await gateway.createTenant());
  ({ key: scopeless } = await gateway.createTenant({ scopes: [] }));
});
afterAll(() => gateway[Symbol.asyncDispose]());
beforeEach(() => {
  for (const owner of Object.values(gateway.owners)) answerAsOwner(owner);
});

/** As every owner does: first what the request is about, then its body, by what the gateway has said of it. */
function answerAsOwner(owner: FakeOwner): void {
  owner.requests.length = 0;
  owner.answerWith((response, { method, url, headers, body }) => {
    try {
      if (url.includes('unknown')) throw new AppError('WEBHOOK_NOT_FOUND');
      if (method === 'POST' || method === 'PATCH') readJsonBody({ body, headers });
      answerJson(response, 200, { body: { object: 'answer' } });
    } catch (error) {
      const { status, body: refusal } = toErrorAnswer(error);
      answerJson(response, status, { body: refusal });
    }
  });
}

type Sent = { key: string | null; keys: string[]; id: string; headers: string[]; body: string };
type Refusal = readonly [number, string, readonly string[]];
type Fault = {
  name: string;
  /** What a request of this route with this fault alone is told; null where it can have no such fault. */
  refusalOn: (route: PublicRoute) => Refusal | null;
  commit: (sent: Sent) => void;
};

const ofBody = (refusal: Refusal) => (route: PublicRoute) => (route.body === null ? null : refusal);
const ofCreation = (refusal: Refusal) => (route: PublicRoute) =>
  route.creates === null ? null : refusal;
const invalid = (detail: string): Refusal => [400, 'VALIDATION_ERROR', [detail]];

/** In the order of decision 12, as far as the edge has a part in it. What owners do after is theirs to test. */
const FAULTS: readonly Fault[] = [
  {
    name: 'no API key',
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
    commit: (sent) => (sent.keys = []),
  },
  {
    name: 'two Idempotency-Keys',
    refusalOn: ofCreation(invalid('Idempotency-Key')),
    commit: (sent) => sent.keys.push(...sent.keys),
  },
  {
    name: 'too large a body',
    refusalOn: ofBody([413, 'PAYLOAD_TOO_LARGE', []]),
    commit: (sent) => (sent.body = LARGE_BODY),
  },
  {
    name: 'an unknown id',
    refusalOn: ({ path }) => (path.endsWith('/:id') ? [404, 'WEBHOOK_NOT_FOUND', []] : null),
    commit: (sent) => (sent.id = 'unknown'),
  },
  {
    name: 'a content coding',
    refusalOn: ofBody(invalid('content-encoding')),
    commit: ({ headers }) => headers.push('Content-Encoding', 'gzip'),
  },
  {
    name: 'two media types',
    refusalOn: ofBody(invalid('content-type')),
    commit: ({ headers }) => headers.push(...TWO_TYPES),
  },
  {
    name: 'an ill-formed media type',
    refusalOn: ofBody(invalid('content-type')),
    commit: ({ headers }) => headers.push('Content-Type', 'nonsense'),
  },
  {
    name: 'no JSON',
    refusalOn: ofBody(invalid('body')),
    commit: (sent) => (sent.body = sent.body === LARGE_BODY ? LARGE_BODY : '{'),
  },
];

async function send(route: PublicRoute, faults: readonly Fault[]): Promise<Answer> {
  const sent: Sent = {
    key,
    keys: ['Idempotency-Key', newId()],
    id: newId(),
    headers: [],
    body: '{}',
  };
  for (const fault of faults) fault.commit(sent);
  const apiKey = sent.key === null ? [] : ['x-api-key', sent.key];
  return await sendRequest({
    port: gateway.ports.public,
    method: route.method,
    path: route.path.replace(':id', sent.id),
    headers: [...apiKey, ...sent.keys, ...sent.headers],
    body: route.method === 'GET' ? undefined : sent.body,
  });
}

const summaryOf = ({ status, json }: Answer) => [status, json['code'], json['details']];

describe('of two faults in one request the earlier one answers', () => {
  test.each(ROUTE_NAMES)('%s', async (name) => {
    const route: PublicRoute = PUBLIC_ROUTES[name];
    const possible = FAULTS.filter(({ refusalOn }) => refusalOn(route) !== null);
    for (const [index, first] of possible.entries()) {
      const alone = await send(route, [first]);
      expect([first.name, ...summaryOf(alone)]).toEqual([
        first.name,
        ...(first.refusalOn(route) ?? []),
      ]);
      for (const second of possible.slice(index + 1)) {
        const pair = `${first.name} and ${second.name}`;
        const both = await send(route, [first, second]);
        expect([pair, ...summaryOf(both)]).toEqual([pair, ...summaryOf(alone)]);
      }
    }
  });
});

test.each(ROUTE_NAMES)(
  'what a route does not take is no fault of its request: %s',
  async (name) => {
    const route: PublicRoute = PUBLIC_ROUTES[name];
    for (const fault of FAULTS) {
      if (fault.refusalOn(route) !== null) continue;
      expect([fault.name, (await send(route, [fault])).status]).toEqual([fault.name, 200]);
    }
  },
);

test('a body that nobody can read reaches the owner of its route, who may know the key', async () => {
  const replay = { id: newId(), object: 'charge' };
  for (const { headers, body } of [
    { headers: ['Content-Encoding', 'gzip'], body: '{}' },
    { headers: ['Content-Type', 'text/plain'], body: '{}' },
    { headers: ['Content-Type', ''], body: '{}' },
    { headers: TWO_TYPES, body: '{}' },
    { headers: [], body: '{' },
    { headers: [], body: '' },
  ]) {
    let isReadable = true;
    gateway.owners.charges.answerWith((response, request) => {
      try {
        readJsonBody(request);
      } catch {
        isReadable = false;
      }
      const marks = { 'idempotent-replayed': 'true', 'idempotency-mismatch': 'true' };
      answerJson(response, 201, { body: replay, headers: marks });
    });
    const answer = await sendRequest({
      port: gateway.ports.public,
      method: 'POST',
      path: '/v1/charges',
      headers: ['x-api-key', key, 'Idempotency-Key', 'order-0001', ...headers],
      body,
    });
    expect([answer.status, answer.json, isReadable]).toEqual([201, replay, false]);
    expect(answer.headers).toMatchObject({
      'idempotent-replayed': 'true',
      'idempotency-mismatch': 'true',
    });
  }
});
