import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { Scope } from '@pixmesh/contracts/http/scopes';
import { ServiceName } from '@pixmesh/contracts/internal/identities';
import { eventually } from '@pixmesh/testkit/eventually';
import { fetchAs } from '@pixmesh/testkit/mesh-calls';
import { expect, inject, onTestFinished } from 'vitest';

/** The fields of `stack.json` that tests use. Read anew each time: restarts change the pids. */
export type StackFile = {
  gateway_url: string;
  admin_url: string;
  admin_token: string;
  callback_url: string;
  simulator_url: string;
  receiver_url: string;
  internal_urls: Record<string, string>;
  failpoint_urls: Record<string, string>;
  mesh_tls: { ca: string; cert: string; key: string };
  postgres_url: string;
  kafka_brokers: string[];
  registry_url: string;
  account_id: string;
  application_id: string;
  api_key: string;
  pids: Record<string, number>;
};

const SEQUENCE_PAGE = 5_000;

const RESTART_MS_MAX = 60_000;
/** Where a service has several processes, a call that one of them does not answer is soon tried again. */
const ANSWER_MS_MAX = 5_000;
/** A full comparison is waited for. */
const ADMIN_ANSWER_MS_MAX = 30_000;
/** Through Kafka, to a webhook, a log or a span, while other files keep the machine busy. */
export const ARRIVAL_MS_MAX = 30_000;

// Tests look at answers as they come; a wrong shape shows in an assertion.
// oxlint-disable-next-line typescript/no-explicit-any
export type Json = any;
export type Answer = { status: number; headers: Headers; body: Json };

/** The folder of another stack than the ring's, for a file that boots its own. */
let ownHome: string | null = null;

/** From here on everything in this file speaks with the stack of another folder. */
export function useHome(home: string): void {
  ownHome = home;
}

/** The folder of the stack that this file speaks with. */
export function homeOf(): string {
  return ownHome ?? inject('home');
}

export function stack(): StackFile {
  return JSON.parse(readFileSync(path.join(homeOf(), 'stack.json'), 'utf8')) as StackFile;
}

/** Of one gateway, whatever it is asked takes its time. */
function theGateway(answerMsMax: number): {
  gateway_url: string;
  admin_url: string;
  timeoutMs?: number;
} {
  const { gateway_url, admin_url, pids } = stack();
  const isOne = pids['gateway-2'] === undefined;
  return { gateway_url, admin_url, ...(isOne ? {} : { timeoutMs: answerMsMax }) };
}

/** What the installation under test keeps secret. */
export function secretsOfHome(): Json {
  return JSON.parse(readFileSync(path.join(homeOf(), 'secrets.json'), 'utf8'));
}

/** One HTTP call; an answer that is not JSON is a failure by itself. */
export async function call(
  url: string,
  init: {
    method?: string;
    headers?: Record<string, string>;
    body?: unknown;
    timeoutMs?: number | undefined;
  } = {},
): Promise<Answer> {
  const response = await fetch(url, {
    method: init.method ?? 'GET',
    headers: { 'content-type': 'application/json', ...init.headers },
    ...(init.body === undefined ? {} : { body: JSON.stringify(init.body) }),
    ...(init.timeoutMs === undefined ? {} : { signal: AbortSignal.timeout(init.timeoutMs) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text ? JSON.parse(text) : null,
  };
}

/** A merchant: an account, an application and a key of its own. */
export type Merchant = {
  accountId: string;
  applicationId: string;
  keyId: string;
  key: string;
  /** Names of its own at the acquirer, which fault rules can be limited to: of its customers, of its recipients. */
  debtor: string;
  recipientKey: string;
  /** Charges that were paid to fund it. */
  funding: string[];
};

export async function aMerchant(settings: object = {}): Promise<Merchant> {
  const account = await adminBody('POST', '/admin/accounts', {
    name: 'Loja',
    legal_name: 'Loja Ltda',
    document: '11222333000181',
    ...settings,
  });
  return await anApplicationOf(account.id);
}

/** One more application of an account, as a merchant of its own. */
export async function anApplicationOf(accountId: string): Promise<Merchant> {
  const path = `/admin/accounts/${accountId}/applications`;
  const { id: applicationId } = await adminBody('POST', path, { name: 'Site' });
  const { id: keyId, key } = await aKeyOf(applicationId);
  const unique = applicationId.slice(-12);
  const debtor = `Ana Souza ${unique}`;
  const recipientKey = `joao-${unique}@example.com`;
  return { accountId, applicationId, keyId, key, debtor, recipientKey, funding: [] };
}

/** One more key of an application; it may do everything unless told otherwise. */
export async function aKeyOf(
  applicationId: string,
  changes: object = {},
): Promise<{ id: string; key: string }> {
  const body = { name: randomUUID(), scopes: Scope.options, ...changes };
  return await adminBody('POST', `/admin/applications/${applicationId}/keys`, body);
}

/** A call of the admin API that has to succeed, and its body. */
export async function adminBody(method: string, path: string, body?: object): Promise<Json> {
  const answer = await admin(method, path, body);
  expect([method, path, answer.status < 300]).toEqual([method, path, true]);
  return answer.body;
}

/** A call of the admin API, by the bootstrap operator or on behalf of another one. */
export async function admin(
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const { admin_url, timeoutMs } = theGateway(ADMIN_ANSWER_MS_MAX);
  const authorization = `Bearer ${stack().admin_token}`;
  const all = { authorization, ...headers };
  return await call(admin_url + path, { method, headers: all, body, timeoutMs });
}

/** A call of the public API, such as `v1(merchant, 'GET /balance')`. */
export async function v1(
  merchant: Merchant,
  route: string,
  options: { headers?: Record<string, string>; body?: unknown } = {},
): Promise<Answer> {
  const [method = 'GET', path = ''] = route.split(' ');
  const headers = { 'x-api-key': merchant.key, ...options.headers };
  const { gateway_url, timeoutMs } = theGateway(ANSWER_MS_MAX);
  return await call(`${gateway_url}/v1${path}`, { method, headers, body: options.body, timeoutMs });
}

/** A body of `POST /v1/charges` with valid defaults. */
function aChargeBody({ debtor }: Merchant, changes: object): object {
  return {
    amount: 1_234,
    customer: { name: debtor, email: 'ana@example.com', document: '529.982.247-25' },
    ...changes,
  };
}

export async function createCharge(
  merchant: Merchant,
  changes: object = {},
  idempotencyKey: string = randomUUID(),
): Promise<Answer> {
  const headers = { 'idempotency-key': idempotencyKey };
  return await v1(merchant, 'POST /charges', { headers, body: aChargeBody(merchant, changes) });
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

/** One read of the balance, which has to be sound in itself (I2). */
export async function balanceOf(merchant: Merchant): Promise<Json> {
  const balance = await v1(merchant, 'GET /balance');
  expect(balance.status).toBe(200);
  expect(balance.body.total).toBe(balance.body.available + balance.body.pending);
  expect(balance.body.available).toBeGreaterThanOrEqual(0);
  return balance.body;
}

export async function availableOf(merchant: Merchant): Promise<number> {
  return (await balanceOf(merchant)).available;
}

/** Waits until a service has come back from the death of one process: another pid, and ready. */
export async function waitForRestart(service: string, pid: number | undefined): Promise<void> {
  await eventually(async () => {
    if (stack().pids[service] === pid) throw new Error(`${service} is not back yet`);
    const answer = await fetch(`${stack().internal_urls[service]}/readyz`);
    if (!answer.ok) throw new Error(`${service} is not ready yet`);
  }, RESTART_MS_MAX);
}

/** Arms one failpoint of a running service; a restart disarms it. */
export async function armFailpoint(
  service: string,
  name: string,
  action: 'kill' | 'hang' | 'error' = 'kill',
): Promise<void> {
  const { failpoint_urls: urls, mesh_tls: files } = stack();
  const url = `${urls[service]}/failpoints`;
  const call = { url, method: 'PUT', body: JSON.stringify({ [name]: action }) };
  const answer = await fetchAs(textsOf(files), ServiceName.parse(service), call);
  expect([name, answer.status, await answer.text()]).toEqual([name, 204, '']);
}

function textsOf(files: StackFile['mesh_tls']): StackFile['mesh_tls'] {
  const [ca, cert, key] = [files.ca, files.cert, files.key].map((file) =>
    readFileSync(file, 'utf8'),
  );
  return { ca, cert, key } as StackFile['mesh_tls'];
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
  /**
   * Breaks the acquirer for one merchant alone, until the test ends or `remove` is called: other files run beside it.
   * Of `callback`, charges and orders are counted apart.
   */
  async addFaults(
    merchant: Merchant,
    rules: readonly FaultRule[],
    seed: number | string = 1,
  ): Promise<{ remove(): Promise<void> }> {
    const url = `${stack().simulator_url}/control/faults`;
    const body = { seed, rules: rules.flatMap((rule) => limitTo(merchant, rule)) };
    const answer = await call(url, { method: 'POST', body });
    expect([answer.status, answer.body]).toEqual([201, answer.body]);
    const remove = async (): Promise<void> => {
      await call(`${url}/${answer.body.id}`, { method: 'DELETE' });
    };
    onTestFinished(remove);
    return { remove };
  },
  /** Breaks the acquirer for everybody: only in files that run alone. */
  async setFaults(rules: readonly object[], seed: number | string = 1): Promise<void> {
    const answer = await call(`${stack().simulator_url}/control/faults`, {
      method: 'PUT',
      body: { seed, rules },
    });
    expect(answer.status).toBeLessThan(300);
  },
  async clearFaults(): Promise<void> {
    await call(`${stack().simulator_url}/control/faults`, { method: 'DELETE' });
  },
  /** A call of the acquirer's real API, with the installation's own credentials. */
  async request(method: string, route: string, body?: object): Promise<Answer> {
    const { simulator_url } = stack();
    const { acquirerClientId, acquirerClientSecret } = secretsOfHome();
    const client = `${acquirerClientId}:${acquirerClientSecret}`;
    const token = await call(`${simulator_url}/oauth/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(client).toString('base64')}` },
      body: { grant_type: 'client_credentials' },
    });
    const headers = { authorization: `Bearer ${token.body.access_token}` };
    return await call(`${simulator_url}${route}`, { method, headers, body });
  },
  /** The acquirer's own record of a charge. */
  async recordOf(chargeId: string): Promise<Json> {
    return (await simulator.request('GET', `/v2/cob/${chargeId.replaceAll('-', '')}`)).body;
  },
  /** Journal entries of one charge. */
  async journalOf(chargeId: string): Promise<Json[]> {
    const txid = chargeId.replaceAll('-', '');
    return (await simulator.journal()).filter((entry) => entry.txid === txid);
  },
  /** Everything that ever happened at the acquirer, oldest first. */
  async journal(): Promise<readonly Json[]> {
    return await readOn(`${stack().simulator_url}/control/journal?`);
  },
};

export type FaultRule = { operation: string; fault: string; [field: string]: unknown };

const OF_ORDERS = new Set(['sendPayout', 'getPayout', 'settlePayout']);

/** The rule for this merchant alone, unless it is limited already; a notice is about a charge or about an order, so it takes two. */
function limitTo({ debtor, recipientKey }: Merchant, rule: FaultRule): FaultRule[] {
  // A list is about everybody: rules of it have to be rare enough for the others.
  if (rule['only'] !== undefined || rule.operation.startsWith('list')) return [rule];
  const ofCharges = { ...rule, only: { debtor } };
  const ofOrders = { ...rule, only: { pix_key: recipientKey } };
  if (rule.operation === 'callback') return [ofCharges, ofOrders];
  return [OF_ORDERS.has(rule.operation) ? ofOrders : ofCharges];
}

/** What the development receiver got on a path, oldest first. */
export async function received(path: string): Promise<Json[]> {
  return await readAll(`${stack().receiver_url}/requests?path=${encodeURIComponent(path)}&`);
}

/** The same for a path that nobody clears. */
export async function receivedOn(path: string): Promise<readonly Json[]> {
  const url = `${stack().receiver_url}/requests?path=${encodeURIComponent(path)}&`;
  return await readOn(url);
}

/** What has been read of lists that only grow: tests that ask again and again must not load what they watch. */
const readSoFar = new Map<string, Promise<readonly Json[]>>();
/** Entries that are read again each time: numbers are given before they can be seen, so a later one may show first. */
const SETTLING_ENTRIES = 1_000;

/** A list that only grows, from a little before where its last reading ended. */
async function readOn(url: string): Promise<readonly Json[]> {
  const before: Promise<readonly Json[]> = readSoFar.get(url) ?? Promise.resolve([]);
  const reading = before.then(async (known) => {
    const settled = known.slice(0, -SETTLING_ENTRIES);
    return [...settled, ...(await readAll(url, settled.at(-1)?.sequence ?? 0))];
  });
  // One that fails leaves what was known.
  readSoFar.set(
    url,
    reading.catch(() => before),
  );
  return await reading;
}

/** All pages of a list that goes by sequence numbers. */
async function readAll(url: string, from = 0): Promise<Json[]> {
  const entries: Json[] = [];
  for (let after = from; ;) {
    const page = await call(`${url}after=${after}&limit=${SEQUENCE_PAGE}`);
    const data: Json[] = page.body.data;
    entries.push(...data);
    if (data.length < SEQUENCE_PAGE) return entries;
    after = data.at(-1).sequence;
  }
}
