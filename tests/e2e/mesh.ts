import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { eventually } from '@pixmesh/testkit/eventually';
import { expect, inject } from 'vitest';

/** The fields of `stack.json` that tests use. Read anew each time: restarts change the pids. */
export type StackFile = {
  gateway_url: string;
  admin_url: string;
  admin_token: string;
  callback_url: string;
  simulator_url: string;
  receiver_url: string;
  account_id: string;
  application_id: string;
  api_key: string;
  pids: Record<string, number>;
};

// Tests look at answers as they come; a wrong shape shows in an assertion.
// oxlint-disable-next-line typescript/no-explicit-any
export type Json = any;
export type Answer = { status: number; headers: Headers; body: Json };

export function stack(): StackFile {
  return JSON.parse(readFileSync(path.join(inject('home'), 'stack.json'), 'utf8')) as StackFile;
}

/** One HTTP call; an answer that is not JSON is a failure by itself. */
export async function call(
  url: string,
  init: { method?: string; headers?: Record<string, string>; body?: unknown } = {},
): Promise<Answer> {
  const response = await fetch(url, {
    method: init.method ?? 'GET',
    headers: { 'content-type': 'application/json', ...init.headers },
    ...(init.body === undefined ? {} : { body: JSON.stringify(init.body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text ? JSON.parse(text) : null,
  };
}

/** A merchant: an account, an application and a key of its own. */
export type Merchant = { accountId: string; applicationId: string; keyId: string; key: string };

export async function aMerchant(settings: object = {}): Promise<Merchant> {
  const account = await admin('POST', '/admin/accounts', {
    name: 'Loja',
    legal_name: 'Loja Ltda',
    document: '11222333000181',
    ...settings,
  });
  const application = await admin('POST', `/admin/accounts/${account.body.id}/applications`, {
    name: 'Site',
  });
  const key = await admin('POST', `/admin/applications/${application.body.id}/keys`, {
    name: 'principal',
    scopes: ['charge:read', 'charge:write', 'balance:read', 'account:read'],
  });
  expect(key.status).toBe(201);
  return {
    accountId: account.body.id,
    applicationId: application.body.id,
    keyId: key.body.id,
    key: key.body.key,
  };
}

export async function admin(method: string, path: string, body?: object): Promise<Answer> {
  const { admin_url, admin_token } = stack();
  const headers = { authorization: `Bearer ${admin_token}` };
  return await call(admin_url + path, { method, headers, body });
}

/** A call of the public API, such as `v1(merchant, 'GET /balance')`. */
export async function v1(
  merchant: Merchant,
  route: string,
  options: { headers?: Record<string, string>; body?: unknown } = {},
): Promise<Answer> {
  const [method = 'GET', path = ''] = route.split(' ');
  const headers = { 'x-api-key': merchant.key, ...options.headers };
  return await call(`${stack().gateway_url}/v1${path}`, { method, headers, body: options.body });
}

/** A body of `POST /v1/charges` with valid defaults. */
function aChargeBody(changes: object = {}): object {
  return {
    amount: 1_234,
    customer: { name: 'Ana Souza', email: 'ana@example.com', document: '529.982.247-25' },
    ...changes,
  };
}

export async function createCharge(
  merchant: Merchant,
  changes: object = {},
  idempotencyKey: string = randomUUID(),
): Promise<Answer> {
  const headers = { 'idempotency-key': idempotencyKey };
  return await v1(merchant, 'POST /charges', { headers, body: aChargeBody(changes) });
}

/** Tries again with the same key, as the specification tells clients to do on 500 and on lost answers. */
export async function createChargeStubbornly(
  merchant: Merchant,
  changes: object = {},
): Promise<Json> {
  const key = randomUUID();
  return await eventually(async () => {
    const created = await createCharge(merchant, changes, key);
    expect(created.status).toBe(201);
    expect(created.body.status).not.toBe('processing');
    return created.body;
  }, 90_000);
}

export async function readCharge(merchant: Merchant, id: string): Promise<Json> {
  const answer = await v1(merchant, `GET /charges/${id}`);
  expect(answer.status).toBe(200);
  return answer.body;
}

export async function waitUntilPaid(
  merchant: Merchant,
  id: string,
  timeoutMs = 20_000,
): Promise<Json> {
  return await eventually(async () => {
    const charge = await readCharge(merchant, id);
    expect(charge.status).toBe('paid');
    return charge;
  }, timeoutMs);
}

export async function availableOf(merchant: Merchant): Promise<number> {
  const balance = await v1(merchant, 'GET /balance');
  expect(balance.status).toBe(200);
  expect(balance.body.total).toBe(balance.body.available + balance.body.pending);
  return balance.body.available;
}

/** The acquirer, as its own control API shows it. */
export const simulator = {
  async pay(id: string, body: object = {}): Promise<Json> {
    const answer = await call(`${stack().simulator_url}/control/charges/${id}/pay`, {
      method: 'POST',
      body,
    });
    expect(answer.status).toBeLessThan(300);
    return answer.body;
  },
  async setFaults(rules: readonly object[]): Promise<void> {
    const answer = await call(`${stack().simulator_url}/control/faults`, {
      method: 'PUT',
      body: { seed: 1, rules },
    });
    expect(answer.status).toBeLessThan(300);
  },
  async clearFaults(): Promise<void> {
    await call(`${stack().simulator_url}/control/faults`, { method: 'DELETE' });
  },
  /** The acquirer's own record of a charge, by the real API. */
  async recordOf(chargeId: string): Promise<Json> {
    const { simulator_url } = stack();
    const secrets = JSON.parse(readFileSync(path.join(inject('home'), 'secrets.json'), 'utf8'));
    const client = `${secrets.acquirerClientId}:${secrets.acquirerClientSecret}`;
    const token = await call(`${simulator_url}/oauth/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(client).toString('base64')}` },
      body: { grant_type: 'client_credentials' },
    });
    const headers = { authorization: `Bearer ${token.body.access_token}` };
    const txid = chargeId.replaceAll('-', '');
    return (await call(`${simulator_url}/v2/cob/${txid}`, { headers })).body;
  },
  /** Journal entries of one charge. */
  async journalOf(chargeId: string): Promise<Json[]> {
    const txid = chargeId.replaceAll('-', '');
    const entries: Json[] = [];
    for (let after = 0; ;) {
      const page = await call(`${stack().simulator_url}/control/journal?after=${after}&limit=1000`);
      const data: Json[] = page.body.data;
      if (data.length === 0) return entries;
      entries.push(...data.filter((entry) => entry.txid === txid));
      after = data.at(-1).sequence;
    }
  },
};

/** What the development receiver got on a path, oldest first. */
export async function received(path: string): Promise<Json[]> {
  const entries: Json[] = [];
  for (let after = 0; ;) {
    const url = `${stack().receiver_url}/requests?path=${encodeURIComponent(path)}&after=${after}&limit=1000`;
    const page = await call(url);
    const data: Json[] = page.body.data;
    if (data.length === 0) return entries;
    entries.push(...data);
    after = data.at(-1).sequence;
  }
}

/** How much smaller outages and series are in `npm test` than in `npm run test:long`. */
export function scaled(long: number, short: number): number {
  return process.env['PIXMESH_LONG'] ? long : short;
}
