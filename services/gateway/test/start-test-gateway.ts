import { randomBytes } from 'node:crypto';

import { Scope } from '@pixmesh/contracts/http/scopes';
import { readConfig } from '@pixmesh/service/config';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { testIdentityFolder, testInfra } from '@pixmesh/testkit/test-infra';
import { expect } from 'vitest';

import { BOOTSTRAP_OPERATOR_ID } from '#admin/authenticate-operator.ts';
import { GatewayConfig } from '#config.ts';
import { type Gateway, startGateway } from '#service.ts';

import { type Answer, sendRequest } from './send-request.ts';
import { type FakeOwner, startFakeOwner } from './start-fake-owner.ts';

export const BOOTSTRAP_TOKEN = randomBytes(24).toString('hex');
export const CALLBACK_SECRET = randomBytes(24).toString('hex');
export type Tenant = { accountId: string; applicationId: string; keyId: string; key: string };

/** What goes with a call on `/admin`; headers as name, value, name, value … */
type AdminBody = { body?: object | undefined; headers?: readonly string[] };

export type TestGateway = AsyncDisposable & {
  /** Stops the gateway alone; its database and owners stay. */
  stop(): Promise<void>;
  /** One more gateway on the same database and owners, with settings of its own. */
  startBeside(environment: Record<string, string>): Promise<Gateway>;
  ports: Gateway['ports'];
  database: TestDatabase;
  owners: { charges: FakeOwner; payouts: FakeOwner; ledger: FakeOwner; dispatcher: FakeOwner };
  /** Calls `/v1` with a key, or without one. */
  request(key: string | null, method: string, path: string): Promise<Answer>;
  /** Calls `/admin` as the bootstrap operator. */
  admin(method: string, path: string, sent?: AdminBody): Promise<Answer>;
  /** An account with an application and a key. */
  createTenant(changes?: {
    scopes?: readonly Scope[];
    account?: object;
    key?: object;
  }): Promise<Tenant>;
};

/** The gateway's own composition root on a fresh database; the owners behind it are stand-ins. */
export async function startTestGateway(
  environment: Record<string, string> = {},
): Promise<TestGateway> {
  // Whatever was started ends with the gateway, also when a later part does not start.
  await using started = new AsyncDisposableStack();
  const database = started.use(await createTestDatabase('gateway'));
  const owners = {
    charges: started.use(await startFakeOwner('charges')),
    payouts: started.use(await startFakeOwner('payouts')),
    ledger: started.use(await startFakeOwner('ledger')),
    dispatcher: started.use(await startFakeOwner('webhook-dispatcher')),
  };
  const common = { ...toEnvironment(database, owners), ...environment };
  const start = (changes: Record<string, string>) =>
    startGateway(readConfig(GatewayConfig, { ...common, ...changes }));
  const gateway = started.use(await start({}));
  const { ports } = gateway;
  const admin: TestGateway['admin'] = (method, path, { headers = [], ...sent } = {}) =>
    sendRequest({
      port: ports.admin,
      method,
      path,
      headers: ['authorization', `Bearer ${BOOTSTRAP_TOKEN}`, ...headers],
      body: sent.body === undefined ? undefined : JSON.stringify(sent.body),
    });
  const all = started.move();
  return {
    ports,
    database,
    owners,
    admin,
    request: (key, method, path) =>
      sendRequest({
        port: ports.public,
        method,
        path,
        headers: key === null ? [] : ['x-api-key', key],
      }),
    createTenant: (changes) => createTenant(admin, changes),
    startBeside: start,
    stop: () => gateway[Symbol.asyncDispose]() as Promise<void>,
    // A second stop of the gateway finds nothing left to stop.
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

function toEnvironment(
  database: TestDatabase,
  owners: TestGateway['owners'],
): Record<string, string> {
  return {
    NODE_ENV: 'test',
    LOG_LEVEL: 'silent',
    DATABASE_URL: database.url,
    MESH_TLS_DIR: testIdentityFolder('gateway'),
    KAFKA_BROKERS: testInfra().kafkaBrokers.join(','),
    SCHEMA_REGISTRY_URL: testInfra().registryUrl,
    // Every application makes an event, so topics have to be there. Those without a prefix are read by nobody; a test
    // that follows what is published brings its own.
    KAFKA_TOPIC_PREFIX: '',
    INTERNAL_PORT: '0',
    PUBLIC_PORT: '0',
    ADMIN_PORT: '0',
    CALLBACK_PORT: '0',
    CHARGES_URL: owners.charges.url,
    PAYOUTS_URL: owners.payouts.url,
    LEDGER_URL: owners.ledger.url,
    DISPATCHER_URL: owners.dispatcher.url,
    API_KEY_PEPPER: randomBytes(32).toString('base64url'),
    ADMIN_BOOTSTRAP_TOKEN: BOOTSTRAP_TOKEN,
    CALLBACK_SECRET,
  };
}

async function createTenant(
  admin: TestGateway['admin'],
  changes: { scopes?: readonly Scope[]; account?: object; key?: object } = {},
): Promise<Tenant> {
  const account = await admin('POST', '/admin/accounts', {
    body: {
      name: 'Loja',
      legal_name: 'Loja Ltda',
      document: '11.444.777/0001-61',
      ...changes.account,
    },
  });
  const accountId = String(account.json['id']);
  const application = await admin('POST', `/admin/accounts/${accountId}/applications`, {
    body: {
      name: 'shop',
    },
  });
  const applicationId = String(application.json['id']);
  const key = await admin('POST', `/admin/applications/${applicationId}/keys`, {
    body: {
      name: 'main',
      scopes: changes.scopes ?? Scope.options,
      ...changes.key,
    },
  });
  const keyId = String(key.json['id']);
  return { accountId, applicationId, keyId, key: String(key.json['key']) };
}

/** What an owner is sent for a call of `/admin`. */
export function forOperator(id: string = BOOTSTRAP_OPERATOR_ID): object {
  return { operator: { operator_id: id, purpose: expect.stringContaining('/admin/') as string } };
}
