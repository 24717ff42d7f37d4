import { eventually } from '@pixmesh/testkit/eventually';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';

import {
  aHook,
  anotherApplication,
  expectSigned,
  receivedAbout,
  type Hook,
  register,
} from './hooks.ts';
import {
  admin,
  aMerchant,
  ARRIVAL_MS_MAX,
  createCharge,
  type Json,
  type Merchant,
  simulator,
  stack,
  v1,
} from './mesh.ts';
import { aPayoutBody } from './payout-calls.ts';

const BIRTH = ['charge.pix.created', 'charge.pix.emitted'];
const LIFE = [...BIRTH, 'charge.pix.paid'];
const EVENTS = [...LIFE, 'payment.pix.created'];
const ENDPOINT_SECRET = 'whsec_endpoint_0001';
const OWN_SECRET = 'whsec_own_0001';

const endpoint = aHook();
const office = aHook();
const own = aHook();

let database: Client;
let site: Merchant;
let endpointId: string;
/** One with a URL of its own, one with the very URL of the endpoint. */
let beside: string;
let merged: string;

beforeAll(async () => {
  database = new Client({ connectionString: stack().postgres_url });
  await database.connect();
  site = await aMerchant({ onboarding_status: 'approved' });
  const other = await anotherApplication(site);
  const body = { url: endpoint.url, events: EVENTS, secret: ENDPOINT_SECRET };
  endpointId = await register(site, body);
  await register(other, { url: office.url, events: EVENTS });
  beside = await aCharge({ webhook_url: own.url, webhook_secret: OWN_SECRET });
  merged = await aCharge({ webhook_url: endpoint.url, webhook_secret: OWN_SECRET });
  await expectDelivered(own, beside, BIRTH);
  await expectDelivered(endpoint, beside, BIRTH);
  await expectDelivered(endpoint, merged, BIRTH);
});
afterAll(() => database.end());

async function aCharge(fields: object = {}): Promise<string> {
  const created = await createCharge(site, fields);
  expect(created.status).toBe(201);
  return created.body.id;
}

async function expectDelivered(hook: Hook, resourceId: string, names: string[]): Promise<Json[]> {
  return await eventually(async () => {
    const requests = await receivedAbout(hook, resourceId);
    const actual = requests.map(({ headers }) => headers['x-webhook-event']);
    expect(actual.toSorted()).toEqual(names.toSorted());
    return requests;
  }, ARRIVAL_MS_MAX);
}

/** The dispatcher hears of it after the operator's answer, as of everything that it does not own. */
async function setActive(active: boolean): Promise<void> {
  const path = `/admin/applications/${site.applicationId}`;
  const changed = await admin('PATCH', path, { active });
  expect([changed.status, changed.body.active]).toEqual([200, active]);
  await eventually(async () => {
    const { rows } = await database.query(
      'select active from webhook_dispatcher.applications where application_id = $1',
      [site.applicationId],
    );
    expect(rows).toEqual([{ active }]);
  }, ARRIVAL_MS_MAX);
}

/** Events of a resource that are on record as not sent to the endpoint. */
async function skipped(resourceId: string): Promise<string[]> {
  const { rows } = await database.query<{ event: string }>(
    `select event from webhook_dispatcher.deliveries
     where resource_id = $1 and endpoint_id = $2 and status = 'skipped'`,
    [resourceId, endpointId],
  );
  return rows.map(({ event }) => event);
}

test('a deactivated application is silent at its endpoints alone: URLs of its charges are still told', async () => {
  await setActive(false);
  expect((await v1(site, 'GET /webhooks')).status).toBe(401);
  await simulator.pay(beside);
  await simulator.pay(merged);
  const atOwn = await expectDelivered(own, beside, LIFE);
  const atEndpoint = await expectDelivered(endpoint, merged, LIFE);
  const paid = [atOwn, atEndpoint].map((requests) =>
    requests.find(({ headers }) => headers['x-webhook-event'] === 'charge.pix.paid'),
  );
  for (const request of paid) expectSigned(request, OWN_SECRET);
  for (const id of [beside, merged]) expect(await skipped(id)).toEqual(['charge.pix.paid']);
  await expectDelivered(endpoint, beside, BIRTH);
});

test('what no application made is told to the active ones of the account', async () => {
  const path = `/admin/accounts/${site.accountId}/payouts`;
  const payout = await admin('POST', path, aPayoutBody(site));
  expect(payout.status).toBe(201);
  await expectDelivered(office, payout.body.id, ['payment.pix.created']);
  expect(await skipped(payout.body.id)).toEqual(['payment.pix.created']);
  await expectDelivered(endpoint, payout.body.id, []);
});

test('a reactivated application hears of what comes later, and of nothing that it missed', async () => {
  await setActive(true);
  const later = await aCharge();
  for (const request of await expectDelivered(endpoint, later, BIRTH)) {
    expectSigned(request, ENDPOINT_SECRET);
  }
  await simulator.pay(later);
  await expectDelivered(endpoint, later, LIFE);
  await expectDelivered(endpoint, beside, BIRTH);
  expect(await skipped(beside)).toEqual(['charge.pix.paid']);
});
