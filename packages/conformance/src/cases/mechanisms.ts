import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

import { equal, holds, oneOf } from '../client/expectations.ts';
import { delivered, it, section, staged } from '../suite/case.ts';
import { announced, checkoutCharge } from '../world/charge-lives.ts';
import {
  CREATED_EVENTS,
  createdWith,
  isSigned,
  isUnsigned,
  withListener,
} from '../world/endpoint-deliveries.ts';
import {
  deliveredCharge,
  deliveredPayout,
  deliveryOf,
  MANUAL_ACCOUNT,
  PAID_EVENTS,
  PAYOUT_EVENTS,
  refusedCharge,
} from '../world/fixtures.ts';
import { aPixKey } from '../world/merchant.ts';
import type { Delivery } from '../world/receiver.ts';
import { refused } from '../world/refusals.ts';
import { until } from '../world/until.ts';
import { fundedMerchant, type World } from '../world/world.ts';
import { PRIVATE_URLS } from './body-cases.ts';

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
  await delay(UNEXPECTED_MS);
  const deliveries = await read();
  equal(deliveries.length, count, 'deliveries of the resource, a while later');
  return deliveries;
}

/** What arrives of a charge whose URL and a registered endpoint are the same place, or nearly. */
function bothMechanisms(w: World, events: string[]): Promise<Delivery[]> {
  return withListener(w, { events, secret: SECRETS.endpoint }, async (merchant, hook) => {
    const fields = { webhook_url: hook.url, webhook_secret: SECRETS.charge };
    const { id } = await merchant.charges.create(fields);
    return await arrived(hook, id, CREATED_EVENTS.length);
  });
}

export const MECHANISM_CASES = section('mechanisms', [
  delivered('per-charge', "a charge's URL receives every event, creation to outcome", async (w) => {
    const { deliveries } = await deliveredCharge(w);
    equal([...deliveries.keys()].toSorted(), PAID_EVENTS.toSorted(), 'the events');
  }),
  delivered.funds('per-payout', "a payout's URL receives every event of the payout", async (w) => {
    const { deliveries } = await deliveredPayout(w);
    equal([...deliveries.keys()].toSorted(), PAYOUT_EVENTS, 'the events that are dispatched');
  }),
  staged.receiver('canceled', "a payout's URL receives its outcome (`canceled`)", async (w) => {
    const hook = w.receiver.hook();
    const merchant = await fundedMerchant(w, 5_000, MANUAL_ACCOUNT);
    const { id } = await merchant.payouts.create({ webhook_url: hook.url });
    await w.admin.call(`POST /admin/payouts/${id}/cancel`);
    const events = ['payment.pix.created', 'payment.pix.canceled'];
    const deliveries = await hook.expectEvents(events);
    const canceled = deliveryOf(deliveries, 'payment.pix.canceled');
    equal(canceled.envelope.data['status'], 'canceled', 'data.status');
  }),
  it.simulator.receiver(
    'refused',
    "a refused charge's URL receives `charge.pix.failed`",
    async (w) => {
      const { hook } = await refusedCharge(w);
      const deliveries = await hook?.expectEvents(['charge.pix.failed']);
      const { envelope } = deliveryOf(deliveries ?? new Map(), 'charge.pix.failed');
      equal(envelope.data['status'], 'failed', 'data.status');
    },
  ),
  it.simulator.receiver.funds(
    'failed-payout',
    "a payout's URL receives its outcome (`failed`)",
    async (w) => {
      const hook = w.receiver.hook();
      const pix_key = aPixKey();
      const rule = { operation: 'settlePayout', fault: 'hang', only: { pix_key } };
      const { id } = await w.simulator.withFault(rule, async () => {
        const payout = await w.own.payouts.create({ pix_key, webhook_url: hook.url });
        await until(() => w.simulator.reject(payout.id, 'Conta encerrada'));
        return await w.own.payouts.until(payout.id, 'failed');
      });
      const events = ['created', 'processing', 'failed'].map((one) => `payment.pix.${one}`);
      const failed = deliveryOf(await hook.expectEvents(events), 'payment.pix.failed');
      const { data } = failed.envelope;
      equal([data['id'], data['status']], [id, 'failed'], 'data.id and data.status');
    },
  ),
  it.receiver('no-secret', 'Without `webhook_secret`, deliveries carry no signature', async (w) => {
    for (const delivery of await createdWith(w, {})) isUnsigned(delivery);
  }),
  it('fixed', 'The URL is fixed for the resource: no call changes it', async (w) => {
    const { id } = await w.own.charges.create({ webhook_url: `${w.hookBase}/first` });
    const body = { webhook_url: `${w.hookBase}/second` };
    for (const method of ['PATCH', 'PUT', 'POST']) {
      const answer = await w.own.call(`${method} /v1/charges/${id}`, { body });
      oneOf(answer.status, [404, 405], `status of ${method}`);
    }
    equal((await w.own.charges.read(id)).webhook_url, `${w.hookBase}/first`, 'webhook_url');
  }),
  it('fixed-on-repeat', 'a repeated creation does not change the URL', async (w) => {
    const key = randomUUID();
    const [first, second] = [`${w.hookBase}/first`, `${w.hookBase}/second`];
    await w.own.charges.create({ webhook_url: first }, key);
    const again = await w.own.charges.create({ webhook_url: second }, key);
    equal(again.webhook_url, first, 'webhook_url');
  }),
  it.receiver('chosen', 'Registered endpoints receive the chosen events and no other', (w) =>
    withListener(w, { events: ['charge.pix.emitted'] }, async ({ charges }, hook) => {
      const { id } = await charges.create();
      const names = (await arrived(hook, id, 1)).map(({ envelope }) => envelope.event);
      equal(names, ['charge.pix.emitted'], 'the events');
    }),
  ),
  it.receiver('all-charges', 'of all charges of the application', (w) =>
    withListener(w, { events: ['charge.pix.created'] }, async ({ charges }, hook) => {
      await arrived(hook, (await charges.create()).id, 1);
      await arrived(hook, (await charges.create()).id, 1);
    }),
  ),
  staged.receiver('all-payouts', 'and of all payouts of the application', async (w) => {
    const hook = w.receiver.hook();
    const merchant = await fundedMerchant(w, 5_000);
    await merchant.endpoints.create({ url: hook.url, events: ['payment.pix.created'] });
    await arrived(hook, (await merchant.payouts.create()).id, 1);
  }),
  it.admin.receiver('own-application', 'not of another application', async (w) => {
    const hook = w.receiver.hook();
    const merchant = await w.admin.createAccount();
    const sister = await w.admin.createApplication(merchant.ids.accountId);
    const events = ['charge.pix.created'];
    await merchant.endpoints.create({ url: hook.url, events });
    const foreign = await sister.charges.create();
    await arrived(hook, (await merchant.charges.create()).id, 1);
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
  it.receiver('add-up', 'Both mechanisms add up', (w) =>
    withListener(w, { events: CREATED_EVENTS }, async ({ charges }, registered) => {
      const own = w.receiver.hook();
      const { id } = await charges.create({ webhook_url: own.url });
      await Promise.all([arrived(own, id, 2), arrived(registered, id, 2)]);
    }),
  ),
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
    const { url } = w.receiver.hook();
    const [registered, own] = [w.receiver.at(`${url}?a=1`), w.receiver.at(`${url}?a=2`)];
    const fields = { url: registered.url, events: ['charge.pix.created'] };
    await withListener(w, fields, async ({ charges }) => {
      const { id } = await charges.create({ webhook_url: own.url });
      await arrived(registered, id, 1);
      await arrived(own, id, 2);
    });
  }),
  ...PRIVATE_URLS.map(([id, url]) =>
    it(`refused.charge-${id}`, `\`422\` \`INVALID_WEBHOOK_URL\` for ${url} (charge)`, async (w) => {
      refused(await w.own.charges.post({ webhook_url: url }), 'INVALID_WEBHOOK_URL');
    }),
  ),
  it(
    'refused.payout',
    '`localhost` is refused with `422` `INVALID_WEBHOOK_URL` (payout)',
    async (w) => {
      const body = { webhook_url: 'http://localhost/hook' };
      refused(await w.own.payouts.post(body), 'INVALID_WEBHOOK_URL');
    },
  ),
  it('refused.endpoint', '(also at endpoint registration)', async (w) => {
    refused(await w.own.endpoints.post({ url: 'http://localhost/hook' }), 'INVALID_WEBHOOK_URL');
  }),
]);
