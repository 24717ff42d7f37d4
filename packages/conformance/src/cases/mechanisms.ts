import { randomUUID } from 'node:crypto';

import { Charge } from '../client/schemas.ts';
import { section, it, faulty, staged, delivered } from '../suite/case.ts';
import { equal, holds, oneOf, shaped } from '../client/expectations.ts';
import { idsOf } from '../world/admin.ts';
import { announced, checkoutCharge } from '../world/charge-lives.ts';
import { CREATED_EVENTS, isSigned } from '../world/endpoint-deliveries.ts';
import {
  createEndpoint,
  deliveredCharge,
  deliveredPayout,
  deliveryOf,
  freshMerchant,
  PAID_EVENTS,
  refusedCharge,
  removeEndpoint,
  untilPayout,
} from '../world/fixtures.ts';
import {
  aChargeBody,
  aPayoutBody,
  bodyWith,
  createCharge,
  createPayout,
  postCharge,
  postPayout,
  readCharge,
} from '../world/merchant.ts';
import { refused } from '../world/refusals.ts';
import type { Delivery } from '../world/receiver.ts';
import { pause, until } from '../world/until.ts';
import { PAYING_ACCOUNT, type World } from '../world/world.ts';
import { NO_URL, PRIVATE_URLS } from './body-cases.ts';

/** Long enough for a delivery that should not come. */
const UNEXPECTED_MS = 1_500;
const SECRETS = { charge: 'whsec_of_the_charge', endpoint: 'whsec_of_the_endpoint' };

/** What arrived at a hook for one resource, once it is this many. */
async function arrived(
  hook: { deliveries(): Promise<Delivery[]> },
  id: string,
  count: number,
): Promise<Delivery[]> {
  const read = async (): Promise<Delivery[]> =>
    (await hook.deliveries()).filter(({ envelope }) => envelope.data['id'] === id);
  await until(async () => {
    equal((await read()).length, count, 'deliveries of the resource');
  });
  await pause(UNEXPECTED_MS);
  const deliveries = await read();
  equal(deliveries.length, count, 'deliveries of the resource, a while later');
  return deliveries;
}

/** What arrives of a charge whose URL and a registered endpoint are the same place, or nearly. */
async function bothMechanisms(w: World, events: string[]): Promise<Delivery[]> {
  const hook = w.receiver.hook();
  const merchant = await freshMerchant(w);
  const fields = { url: hook.url, events, secret: SECRETS.endpoint };
  const endpoint = await createEndpoint(merchant, fields);
  const charge = await createCharge(merchant, {
    webhook_url: hook.url,
    webhook_secret: SECRETS.charge,
  });
  const deliveries = await arrived(hook, charge.id, CREATED_EVENTS.length);
  await removeEndpoint(merchant, endpoint.id);
  return deliveries;
}

export const MECHANISM_CASES = section('mechanisms', [
  delivered('per-charge', "a charge's URL receives every event, creation to outcome", async (w) => {
    const { deliveries } = await deliveredCharge(w);
    equal([...deliveries.keys()].toSorted(), PAID_EVENTS.toSorted(), 'the events');
  }),
  delivered.funds('per-payout', "a payout's URL receives every event of the payout", async (w) => {
    const { deliveries } = await deliveredPayout(w);
    const events = ['payment.pix.created', 'payment.pix.processing'];
    equal([...deliveries.keys()].toSorted(), events, 'the events that are dispatched');
  }),
  staged.receiver('canceled', "a payout's URL receives its outcome (`canceled`)", async (w) => {
    const hook = w.receiver.hook();
    const settings = { ...PAYING_ACCOUNT, auto_payout_enabled: false };
    const merchant = await w.admin.createAccount(settings);
    await w.fund(merchant, 5_000);
    const { id } = await createPayout(merchant, { webhook_url: hook.url });
    await w.admin.call(`POST /admin/payouts/${id}/cancel`);
    const events = ['payment.pix.created', 'payment.pix.canceled'];
    const deliveries = await hook.expectEvents(events);
    const canceled = deliveryOf(deliveries, 'payment.pix.canceled');
    equal(canceled.envelope.data['status'], 'canceled', 'data.status');
  }),
  faulty.receiver('refused', "a refused charge's URL receives `charge.pix.failed`", async (w) => {
    const { hook } = await refusedCharge(w);
    const deliveries = await hook?.expectEvents(['charge.pix.failed']);
    const { envelope } = deliveryOf(deliveries ?? new Map(), 'charge.pix.failed');
    equal(envelope.data['status'], 'failed', 'data.status');
  }),
  faulty.receiver.funds(
    'failed-payout',
    "a payout's URL receives its outcome (`failed`)",
    async (w) => {
      const hook = w.receiver.hook();
      const rule = { operation: 'settlePayout', fault: 'hang' };
      const { id } = await w.simulator.withFaults([rule], async () => {
        const payout = await createPayout(w.own, { webhook_url: hook.url });
        await until(() => w.simulator.reject(payout.id, 'Conta encerrada'));
        return await untilPayout(w.own, payout.id, 'failed');
      });
      const events = ['created', 'processing', 'failed'].map((one) => `payment.pix.${one}`);
      const failed = deliveryOf(await hook.expectEvents(events), 'payment.pix.failed');
      const { data } = failed.envelope;
      equal([data['id'], data['status']], [id, 'failed'], 'data.id and data.status');
    },
  ),
  it.receiver('no-secret', 'Without `webhook_secret`, deliveries carry no signature', async (w) => {
    const hook = w.receiver.hook();
    await createCharge(w.own, { webhook_url: hook.url });
    for (const { headers } of (await hook.expectEvents(CREATED_EVENTS)).values()) {
      holds(!('x-webhook-signature' in headers), 'no signature', Object.keys(headers));
    }
  }),
  it('fixed', 'The URL is fixed for the resource: no call changes it', async (w) => {
    const { id } = await createCharge(w.own, { webhook_url: `${w.hookBase}/first` });
    const body = { webhook_url: `${w.hookBase}/second` };
    for (const method of ['PATCH', 'PUT', 'POST']) {
      const answer = await w.own.call(`${method} /v1/charges/${id}`, { body });
      oneOf(answer.status, [404, 405], `status of ${method}`);
    }
    equal((await readCharge(w.own, id)).webhook_url, `${w.hookBase}/first`, 'webhook_url');
  }),
  it('fixed-on-repeat', 'a repeated creation does not change the URL', async (w) => {
    const key = randomUUID();
    const [first, second] = [`${w.hookBase}/first`, `${w.hookBase}/second`];
    bodyWith(await postCharge(w.own, aChargeBody({ webhook_url: first }), key), 201);
    const again = await postCharge(w.own, aChargeBody({ webhook_url: second }), key);
    equal(shaped(Charge, bodyWith(again, 201), 'the charge').webhook_url, first, 'webhook_url');
  }),
  it.receiver(
    'chosen',
    'Registered endpoints receive the chosen events and no other',
    async (w) => {
      const hook = w.receiver.hook();
      const merchant = await freshMerchant(w);
      const events = ['charge.pix.emitted'];
      const endpoint = await createEndpoint(merchant, { url: hook.url, events });
      const { id } = await createCharge(merchant);
      const names = (await arrived(hook, id, 1)).map(({ envelope }) => envelope.event);
      equal(names, events, 'the events');
      await removeEndpoint(merchant, endpoint.id);
    },
  ),
  it.receiver('all-charges', 'of all charges of the application', async (w) => {
    const hook = w.receiver.hook();
    const merchant = await freshMerchant(w);
    const events = ['charge.pix.created'];
    const endpoint = await createEndpoint(merchant, { url: hook.url, events });
    for (let call = 0; call < 2; call += 1) {
      await arrived(hook, (await createCharge(merchant)).id, 1);
    }
    await removeEndpoint(merchant, endpoint.id);
  }),
  staged.receiver('all-payouts', 'and of all payouts of the application', async (w) => {
    const hook = w.receiver.hook();
    const merchant = await w.admin.createAccount(PAYING_ACCOUNT);
    await w.fund(merchant, 5_000);
    await createEndpoint(merchant, { url: hook.url, events: ['payment.pix.created'] });
    await arrived(hook, (await createPayout(merchant)).id, 1);
  }),
  it.admin.receiver('own-application', 'not of another application', async (w) => {
    const hook = w.receiver.hook();
    const merchant = await w.admin.createAccount();
    const sister = await w.admin.createApplication(idsOf(merchant).accountId);
    const events = ['charge.pix.created'];
    await createEndpoint(merchant, { url: hook.url, events });
    const foreign = await createCharge(sister);
    await arrived(hook, (await createCharge(merchant)).id, 1);
    const got = (await hook.deliveries()).map(({ envelope }) => envelope.data['id']);
    holds(!got.includes(foreign.id), 'no event of the other application', got);
  }),
  it.admin.receiver('outside-the-api', 'including charges created outside the API', async (w) => {
    const life = await checkoutCharge(w);
    for (const event of CREATED_EVENTS) {
      const { envelope } = await announced(w, life, event);
      equal(envelope.data['id'], life.id, 'data.id');
    }
  }),
  it.receiver('add-up', 'Both mechanisms add up', async (w) => {
    const [own, registered] = [w.receiver.hook(), w.receiver.hook()];
    const merchant = await freshMerchant(w);
    const fields = { url: registered.url, events: CREATED_EVENTS };
    const endpoint = await createEndpoint(merchant, fields);
    const { id } = await createCharge(merchant, { webhook_url: own.url });
    await Promise.all([arrived(own, id, 2), arrived(registered, id, 2)]);
    await removeEndpoint(merchant, endpoint.id);
  }),
  it.receiver('same-url', 'the same URL, subscribed: one delivery is sent', async (w) => {
    await bothMechanisms(w, CREATED_EVENTS);
  }),
  it.receiver('same-url-secret', "and it is signed with the endpoint's secret", async (w) => {
    const deliveries = await bothMechanisms(w, CREATED_EVENTS);
    for (const delivery of deliveries) isSigned(delivery, SECRETS.endpoint);
  }),
  it.receiver('same-url-unsubscribed', 'the same URL, not subscribed: by the URL', async (w) => {
    const deliveries = await bothMechanisms(w, ['charge.pix.paid']);
    for (const delivery of deliveries) isSigned(delivery, SECRETS.charge);
  }),
  it.receiver('other-url', 'the URL is not exactly the same: two deliveries', async (w) => {
    const events = ['charge.pix.created'];
    const hook = w.receiver.hook();
    const merchant = await freshMerchant(w);
    const endpoint = await createEndpoint(merchant, { url: `${hook.url}?a=1`, events });
    const own = `${hook.url}?a=2`;
    const { id } = await createCharge(merchant, { webhook_url: own });
    await arrived(w.receiver.at(`${hook.url}?a=1`), id, 1);
    await arrived(w.receiver.at(own), id, 2);
    await removeEndpoint(merchant, endpoint.id);
  }),
  ...PRIVATE_URLS.map(([id, url]) =>
    it(`refused.charge-${id}`, `\`422\` \`INVALID_WEBHOOK_URL\` for ${url} (charge)`, async (w) => {
      refused(await postCharge(w.own, aChargeBody({ webhook_url: url })), NO_URL);
    }),
  ),
  it(
    'refused.payout',
    '`localhost` is refused with `422` `INVALID_WEBHOOK_URL` (payout)',
    async (w) => {
      const body = aPayoutBody({ webhook_url: 'http://localhost/hook' });
      refused(await postPayout(w.own, body), NO_URL);
    },
  ),
  it('refused.endpoint', '(also at endpoint registration)', async (w) => {
    const body = { url: 'http://localhost/hook', events: ['charge.pix.paid'] };
    refused(await w.own.call('POST /v1/webhooks', { body }), NO_URL);
  }),
]);
