import { eventually } from '@pixmesh/testkit/eventually';
import { beforeAll, describe, expect, test } from 'vitest';

import {
  aHook,
  anotherApplication,
  bytesOf,
  expectSigned,
  receivedAbout,
  type Hook,
  register,
} from './hooks.ts';
import {
  admin,
  ARRIVAL_MS_MAX,
  createCharge,
  type Merchant,
  simulator,
  v1,
  waitUntilPaid,
} from './mesh.ts';
import { aPayingMerchant, aPayoutBody, createPayout, waitForPayout } from './payout-calls.ts';

const FUNDS_CENTS = 10_000;
const CHARGE_LIFE = ['charge.pix.created', 'charge.pix.emitted', 'charge.pix.paid'];
const CHARGE_BIRTH = ['charge.pix.created', 'charge.pix.emitted'];
const PAYOUT_LIFE = ['payment.pix.created', 'payment.pix.processing'];
const ALL = [...CHARGE_LIFE, ...PAYOUT_LIFE, 'payment.pix.completed', 'payment.pix.failed'];

async function change(merchant: Merchant, id: string, body: object): Promise<void> {
  expect((await v1(merchant, `PATCH /webhooks/${id}`, { body })).status).toBe(200);
}

async function aCharge(merchant: Merchant, fields: object = {}): Promise<string> {
  const created = await createCharge(merchant, fields);
  expect(created.status).toBe(201);
  return created.body.id;
}

type Expectation = { resourceId: string; hook: Hook; names: string[] };

/** Everything that was ever expected: looked at once more at the end, when nothing more may have come. */
const expectations: Expectation[] = [];

async function deliveredNames({ hook, resourceId }: Expectation): Promise<string[]> {
  const requests = await receivedAbout(hook, resourceId);
  return requests.map((request) => request.headers['x-webhook-event']).toSorted();
}

/** Each hook hears of a resource exactly these events, each once, signed with this secret. */
async function expectDelivered(
  resourceId: string,
  audience: [hook: Hook, names: string[], secret: string | null][],
): Promise<void> {
  for (const [hook, names, secret] of audience) {
    const expectation = { resourceId, hook, names: names.toSorted() };
    expectations.push(expectation);
    await eventually(
      async () => expect(await deliveredNames(expectation)).toEqual(expectation.names),
      ARRIVAL_MS_MAX,
    );
    const requests = await receivedAbout(hook, resourceId);
    for (const request of requests) {
      expectSigned(request, secret);
      const body = JSON.parse(bytesOf(request).toString());
      expect(body.id).toBe(request.headers['x-webhook-delivery']);
    }
    const ids = requests.map((request) => request.headers['x-webhook-delivery']);
    expect(new Set(ids).size).toBe(ids.length);
  }
}

describe('registered endpoints', () => {
  const [all, some, other] = [aHook(), aHook(), aHook()];
  const [allSecret, otherSecret] = ['whsec_all_0001', 'whsec_other_0001'];
  let site: Merchant;
  let app: Merchant;
  let allId: string;
  let someId: string;

  beforeAll(async () => {
    site = await aPayingMerchant(FUNDS_CENTS);
    app = await anotherApplication(site);
    allId = await register(site, { url: all.url, events: ALL, secret: allSecret });
    const events = ['charge.pix.paid', 'payment.pix.created', 'payment.pix.completed'];
    someId = await register(site, { url: some.url, events });
    await register(app, { url: other.url, events: ALL, secret: otherSecret });
  });

  test('hear what they chose of a charge of their application, beside the URL of the charge', async () => {
    const own = aHook();
    const ownSecret = 'whsec_own_0001';
    const charge = await aCharge(site, { webhook_url: own.url, webhook_secret: ownSecret });
    await simulator.pay(charge);
    await waitUntilPaid(site, charge);
    await expectDelivered(charge, [
      [own, CHARGE_LIFE, ownSecret],
      [all, CHARGE_LIFE, allSecret],
      [some, ['charge.pix.paid'], null],
      [other, [], null],
    ]);
    const deliveryIds = (await Promise.all([own, all].map((hook) => receivedAbout(hook, charge))))
      .flat()
      .map((request) => request.headers['x-webhook-delivery']);
    expect(new Set(deliveryIds).size).toBe(2 * CHARGE_LIFE.length);
    const others = await aCharge(app);
    await expectDelivered(others, [
      [other, CHARGE_BIRTH, otherSecret],
      [all, [], null],
    ]);
  });

  test('hear of payouts, of which a completion stays silent', async () => {
    const own = aHook();
    const payout = await createPayout(site, { webhook_url: own.url });
    await waitForPayout(site, payout.body.id, 'completed');
    await expectDelivered(payout.body.id, [
      [own, PAYOUT_LIFE, null],
      [all, PAYOUT_LIFE, allSecret],
      [some, ['payment.pix.created'], null],
      [other, [], null],
    ]);
  });

  test('of every application hear of what no application made', async () => {
    const path = `/admin/accounts/${site.accountId}/payouts`;
    const payout = await admin('POST', path, aPayoutBody(site));
    expect(payout.status).toBe(201);
    await expectDelivered(payout.body.id, [
      [all, ['payment.pix.created'], allSecret],
      [some, ['payment.pix.created'], null],
      [other, ['payment.pix.created'], otherSecret],
    ]);
  });

  test('with the very URL of a charge get one delivery in place of two, signed with their secret', async () => {
    const charge = await aCharge(site, { webhook_url: all.url, webhook_secret: 'whsec_own_0002' });
    await expectDelivered(charge, [[all, CHARGE_BIRTH, allSecret]]);
    const near = await aCharge(site, { webhook_url: `${all.url}?`, webhook_secret: allSecret });
    await expectDelivered(near, [[all, [...CHARGE_BIRTH, ...CHARGE_BIRTH], allSecret]]);
    const unsigned = await aCharge(site, {
      webhook_url: some.url,
      webhook_secret: 'whsec_own_0003',
    });
    await simulator.pay(unsigned);
    await waitUntilPaid(site, unsigned);
    // The endpoint has no secret and hears of the payment alone; the rest goes to the URL of the charge.
    await expectDelivered(unsigned, [[some, CHARGE_LIFE, 'whsec_own_0003']]);
  });

  test('that pause miss what happens, then go on with what comes later', async () => {
    await change(site, allId, { active: false });
    const own = aHook();
    const missed = await aCharge(site, { webhook_url: own.url });
    await expectDelivered(missed, [
      [own, CHARGE_BIRTH, null],
      [all, [], null],
    ]);
    // A paused endpoint with the URL of a charge does not silence it.
    const loud = await aCharge(site, { webhook_url: all.url, webhook_secret: 'whsec_own_0004' });
    await expectDelivered(loud, [[all, CHARGE_BIRTH, 'whsec_own_0004']]);
    await change(site, allId, { active: true });
    const later = await aCharge(site);
    await expectDelivered(later, [[all, CHARGE_BIRTH, allSecret]]);
  });

  test('that change their secret, URL or events do so from the next delivery on', async () => {
    const moved = aHook();
    await change(site, someId, {
      url: moved.url,
      secret: 'whsec_some_0001',
      events: ['charge.pix.created'],
    });
    const charge = await aCharge(site);
    await expectDelivered(charge, [
      [all, CHARGE_BIRTH, allSecret],
      [moved, ['charge.pix.created'], 'whsec_some_0001'],
      [some, [], null],
    ]);
  });

  test('that are deleted hear no more, and nothing came that was not asked for', async () => {
    const own = aHook();
    expect((await v1(site, `DELETE /webhooks/${allId}`)).status).toBe(204);
    const charge = await aCharge(site, { webhook_url: own.url });
    await expectDelivered(charge, [
      [own, CHARGE_BIRTH, null],
      [all, [], null],
    ]);
    for (const expectation of expectations) {
      expect(await deliveredNames(expectation)).toEqual(expectation.names);
    }
  });
});
