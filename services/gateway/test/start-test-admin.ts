import type { AddressInfo } from 'node:net';

import type { Database } from '@pixmesh/postgres/pool';
import { createLogger } from '@pixmesh/telemetry/logger';

import type { OwnerClients } from '#admin/owners/call-owner.ts';

import { buildAdminApp } from '#admin-app.ts';
import { OPEN_EDGE } from './open-edge.ts';
import { type Answer, sendRequest } from './send-request.ts';

const TOKEN = 'a-token-of-the-first-operator-of-tests';

type OwnerAnswer = { status: number; headers?: Record<string, string>; body: object };

export type TestAdmin = AsyncDisposable & {
  /** Calls `/admin` as the bootstrap operator; headers as name, value, name, value … */
  call(method: string, path: string, sent?: Sent): Promise<Answer>;
  /** What was logged from level `warn` on. */
  warnings: Record<string, unknown>[];
  /** How often the outbox relay was woken. */
  wakeUps(): number;
};

type Sent = { body?: object | string; headers?: readonly string[] };

/** The admin listener alone, with owners that all give one answer: for what no client can see of it. */
export async function startTestAdmin(deps: {
  db: Database;
  answer: OwnerAnswer;
}): Promise<TestAdmin> {
  const warnings: Record<string, unknown>[] = [];
  let wakeUps = 0;
  const write = (line: string) => void warnings.push(JSON.parse(line) as Record<string, unknown>);
  const app = buildAdminApp({
    db: deps.db,
    logs: deps.db,
    logger: createLogger('gateway', 'warn', { write }),
    pepper: { version: 1, bytes: Buffer.alloc(32) },
    clients: ownersThat(deps.answer),
    wakeOutbox: () => {
      wakeUps += 1;
    },
    counters: { used: () => Promise.reject(new Error('unused')) },
    keyDefault: null,
    reconciliation: {
      latest: () => Promise.reject(new Error('unused')),
      runNow: () => Promise.reject(new Error('unused')),
      requestFull: () => Promise.reject(new Error('unused')),
    },
    ownLetters: () => Promise.reject(new Error('unused')),
    requestTimeoutMs: 1_000,
    reconciliationTimeoutMs: 1_000,
    bootstrapToken: TOKEN,
    mayActForOthers: false,
    edge: OPEN_EDGE,
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  return {
    call: (method, path, { body, headers = [] } = {}) =>
      sendRequest({
        port,
        method,
        path,
        headers: ['authorization', `Bearer ${TOKEN}`, ...headers],
        body: typeof body === 'object' ? JSON.stringify(body) : body,
      }),
    warnings,
    wakeUps: () => wakeUps,
    [Symbol.asyncDispose]: () => app.close(),
  };
}

function ownersThat({ status, headers = {}, body }: OwnerAnswer): OwnerClients {
  const sent = { 'content-type': 'application/json; charset=utf-8', ...headers };
  const client: OwnerClients['charges'] = {
    request: async () => ({ status, headers: sent, body: Buffer.from(JSON.stringify(body)) }),
    [Symbol.asyncDispose]: async () => undefined,
  };
  return { charges: client, payouts: client, ledger: client, 'webhook-dispatcher': client };
}
