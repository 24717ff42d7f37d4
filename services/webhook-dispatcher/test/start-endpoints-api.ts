import type { TenantClaims } from '@pixmesh/contracts/internal/caller-claims';
import { callOwner } from '@pixmesh/testkit/mesh-calls';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { createTestTopics } from '@pixmesh/testkit/test-topics';

import { startWebhookDispatcher } from '#service.ts';

import { testConfig, testEnvironment } from './test-dispatcher.ts';

/** A closed port: nothing is sent. */
const NO_RECEIVER = 9;

// Answers are looked at as they come; a wrong shape shows in an assertion.
// oxlint-disable-next-line typescript/no-explicit-any
export type Json = any;

type Answer = Awaited<ReturnType<typeof callOwner>>;

export type EndpointsAnswer = {
  status: number;
  headers: Answer['headers'];
  text: string;
  body: Json;
};
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
  const url = `https://127.0.0.1:${service.ports.api}`;
  return {
    db: database.db,
    /** `route` is method and path; a text or bytes go as they are, everything else as JSON. */
    request: (
      caller: TenantClaims | null,
      route: string,
      ...[body, headers]: [body?: unknown, headers?: Record<string, string>]
    ) => callEndpoints(url, { caller, route, body, headers }),
    [Symbol.asyncDispose]: async () => {
      await service[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

export async function callEndpoints(
  url: string,
  call: Parameters<typeof callOwner>[1],
): Promise<EndpointsAnswer> {
  const response = await callOwner({ owner: 'webhook-dispatcher', url }, call);
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
