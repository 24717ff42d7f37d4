import { INTERNAL_HEADERS } from '@pixmesh/contracts/internal/headers';
import type { CallerClaims } from '@pixmesh/contracts/internal/service-token';
import { createTokenSigner } from '@pixmesh/http/service-token';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { createTestTopics } from '@pixmesh/testkit/test-topics';

import { startWebhookDispatcher } from '#service.ts';

import { testConfig, testEnvironment, tokenKeys } from './test-dispatcher.ts';

/** A closed port: nothing is sent. */
const NO_RECEIVER = 9;

// Answers are looked at as they come; a wrong shape shows in an assertion.
// oxlint-disable-next-line typescript/no-explicit-any
export type Json = any;

export type EndpointsAnswer = { status: number; headers: Headers; text: string; body: Json };
export type EndpointsApi = Awaited<ReturnType<typeof startEndpointsApi>>;

/** The role `api` alone, without any private key, called as the gateway calls it. */
export async function startEndpointsApi() {
  const [database, topics] = await Promise.all([
    createTestDatabase('webhook_dispatcher'),
    createTestTopics(),
  ]);
  const { WEBHOOK_SEALING_PRIVATE_KEYS: _keys, ...env } = testEnvironment({
    databaseUrl: database.url,
    topicPrefix: topics.topicPrefix,
    receiverPort: NO_RECEIVER,
  });
  const service = await startWebhookDispatcher(testConfig({ ...env, ROLES: 'api' }));
  const sign = await createTokenSigner(tokenKeys.privateKeys['gateway'] ?? {});
  const url = `http://127.0.0.1:${service.ports.api}`;
  return {
    db: database.db,
    /** `route` is method and path; a text or bytes go as they are, everything else as JSON. */
    request: (
      caller: CallerClaims | null,
      route: string,
      ...[body, headers]: [body?: unknown, headers?: Record<string, string>]
    ) => callEndpoints(url, { token: sign('webhook-dispatcher', caller), route, body, headers }),
    [Symbol.asyncDispose]: async () => {
      await service[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

export async function callEndpoints(
  url: string,
  call: {
    token: Promise<string>;
    route: string;
    body: unknown;
    headers?: Record<string, string> | undefined;
  },
): Promise<EndpointsAnswer> {
  const [method = 'GET', path = ''] = call.route.split(' ');
  const isRaw = typeof call.body === 'string' || Buffer.isBuffer(call.body);
  const body = isRaw ? (call.body as string) : JSON.stringify(call.body);
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      [INTERNAL_HEADERS.token]: await call.token,
      ...call.headers,
    },
    body: body ?? null,
  });
  const text = await response.text();
  const { status, headers } = response;
  return { status, headers, text, body: text === '' ? null : JSON.parse(text) };
}

/** A body that passes every rule. */
export function anEndpointBody(changes: Record<string, unknown> = {}) {
  return {
    url: 'https://shop.receiver.example.com/hook',
    events: ['charge.pix.paid', 'payment.pix.failed'],
    ...changes,
  };
}
