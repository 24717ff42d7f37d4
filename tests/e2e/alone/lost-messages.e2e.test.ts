import { randomUUID } from 'node:crypto';

import { TOPICS } from '@pixmesh/contracts/topics';
import { eventually } from '@pixmesh/testkit/eventually';
import { sampled } from '@pixmesh/testkit/long-runs';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { acquirer } from '../acquirer.ts';
import { balancesOf, disputesOf } from '../acquirer-channels.ts';
import { expectNoBreaks } from '../find-breaks.ts';
import { type Broker, openBroker } from '../lose-messages.ts';
import {
  admin,
  adminBody,
  aMerchant,
  availableOf,
  call,
  createChargeStubbornly,
  type Json,
  type Merchant,
  received,
  secretsOfHome,
  simulator,
  stack,
  waitUntilPaid,
} from '../mesh.ts';
import {
  AMOUNT_CENTS,
  aPayingMerchant,
  COST_CENTS,
  createPayout,
  readPayout,
  returnAtAcquirer,
  waitForPayout,
} from '../payout-calls.ts';
import { endedRefundsOf, requestRefund } from '../refund-calls.ts';

/** A lost command is sent again after 20 s here, a lost event is found within two runs of reconciliation. */
const HEALED_MS_MAX = 120_000;
const CHARGE_CENTS = 2_000;
const PART_CENTS = 500;

let broker: Broker;

beforeAll(() => {
  broker = openBroker();
});
afterAll(() => broker[Symbol.asyncDispose]());

/** Each kind of message in turn is deleted from its topic before it is read. */
const LOSSES = [
  {
    name: 'commands that are lost before the ledger reads them are sent again, and done once',
    run: async () => {
      const lives = await prepareLives();
      await broker.whileFrozen(['ledger'], async () => {
        await lives.goOn();
        await broker.untilPublished(['charges', 'payouts']);
        expect(await broker.unansweredTypes()).toEqual(COMMANDS);
        await broker.lose([TOPICS.ledgerCommands]);
      });
      await lives.expectEnded();
    },
  },
  {
    name: 'outcomes that are lost before anybody reads them are published again',
    run: async () => {
      const lives = await prepareLives();
      await broker.whileFrozen(['ledger'], async () => {
        await lives.goOn();
        await broker.untilPublished(['charges', 'payouts']);
        expect(await broker.unansweredTypes()).toEqual(COMMANDS);
        await broker.whileFrozen(['charges', 'payouts'], async () => {
          broker.thaw('ledger');
          await broker.untilDecided();
          await broker.untilPublished(['ledger']);
          await broker.lose([TOPICS.ledgerEvents]);
        });
      });
      await lives.expectEnded();
    },
  },
  {
    name: 'events that are lost before the dispatcher reads them are delivered',
    run: async () => {
      const path = `/${randomUUID()}`;
      const webhook_url = `http://a.receiver.example.com${path}`;
      const merchant = await aPayingMerchant(CHARGE_CENTS);
      const charge = await createChargeStubbornly(merchant, { amount: CHARGE_CENTS, webhook_url });
      await broker.whileFrozen(['webhook-dispatcher'], async () => {
        const { body } = await acquirer.pay(charge.id);
        await waitUntilPaid(merchant, charge.id, HEALED_MS_MAX);
        const payout = await createPayout(merchant, { webhook_url });
        await waitForPayout(merchant, payout.body.id, 'completed', HEALED_MS_MAX);
        await acquirer.openDispute({ end_to_end_id: body.end_to_end_id, reason: 'scam' });
        await eventually(
          async () => expect(await disputesOf(charge.id)).toHaveLength(1),
          HEALED_MS_MAX,
        );
        await broker.untilPublished(['charges', 'payouts']);
        await broker.lose([TOPICS.chargesEvents, TOPICS.payoutsEvents]);
      });
      await eventually(async () => {
        const events = (await received(path)).map(eventOf);
        expect([...new Set(events)]).toEqual(expect.arrayContaining(DELIVERED));
      }, HEALED_MS_MAX);
    },
  },
  {
    name: "an application's state that is lost before the dispatcher hears of it arrives",
    run: async () => {
      const merchant = await aMerchant();
      await broker.whileFrozen(['webhook-dispatcher'], async () => {
        await adminBody('PATCH', `/admin/applications/${merchant.applicationId}`, {
          active: false,
        });
        await broker.untilPublished(['gateway']);
        await broker.lose([TOPICS.accountsEvents]);
      });
      await eventually(async () => {
        expect(await broker.stateAtDispatcher(merchant.applicationId)).toBe(false);
      }, HEALED_MS_MAX);
    },
  },
  {
    name: 'callbacks that are lost before anybody reads them are made up for',
    run: async () => {
      const merchant = await aMerchant();
      const charge = await createChargeStubbornly(merchant, { amount: CHARGE_CENTS });
      await broker.whileFrozen(['charges', 'payouts'], async () => {
        await acquirer.pay(charge.id);
        await broker.untilStored(charge.id);
        await broker.untilPublished(['gateway']);
        await broker.lose([TOPICS.acquirerCallbacks]);
      });
      await waitUntilPaid(merchant, charge.id, HEALED_MS_MAX);
    },
  },
  {
    name: 'topics that are deleted and made again lose nothing',
    run: async () => {
      const path = `/${randomUUID()}`;
      const webhook_url = `http://a.receiver.example.com${path}`;
      const merchant = await aMerchant();
      const charge = await createChargeStubbornly(merchant, { amount: CHARGE_CENTS, webhook_url });
      await eventually(async () => expect(await received(path)).not.toEqual([]));
      await broker.whileFrozen(['ledger', 'webhook-dispatcher'], async () => {
        await acquirer.pay(charge.id);
        await broker.untilUnanswered();
        await broker.untilPublished(['charges']);
        await broker.makeAgain([TOPICS.ledgerCommands, TOPICS.chargesEvents]);
      });
      await waitUntilPaid(merchant, charge.id, HEALED_MS_MAX);
      await eventually(async () => {
        expect((await received(path)).map(eventOf)).toContain('charge.pix.paid');
      }, HEALED_MS_MAX);
      // What is written from now on arrives as before.
      const next = await createChargeStubbornly(merchant, { amount: CHARGE_CENTS });
      await acquirer.pay(next.id);
      await waitUntilPaid(merchant, next.id, HEALED_MS_MAX);
    },
  },
];

test.each(sampled(LOSSES, 1))('$name', ({ run }) => run(), 400_000);

test('reconciliation explains all of it, and nothing waits for an outcome', async () => {
  await expectNoBreaks();
  await eventually(async () => expect(await broker.unansweredTypes()).toEqual([]), HEALED_MS_MAX);
  expect((await admin('GET', '/admin/dead-letters')).body.data).toEqual([]);
}, 600_000);

/** What the lives below have the ledger do once they go on. */
const COMMANDS = [
  'dispute.block',
  'dispute.return',
  'dispute.unblock',
  'hold.release',
  'hold.settle',
  'payout_return.credit',
  'received_pix.credit',
  'received_pix.return',
  'received_pix.suspend',
];

const DELIVERED = ['charge.pix.paid', 'charge.pix.infraction', 'payment.pix.processing'];

/** Charges, refunds, disputes and payouts, each short of a command to the ledger. */
async function prepareLives() {
  const merchant = await aMerchant();
  const unpaid = await createChargeStubbornly(merchant, { amount: CHARGE_CENTS });
  const [toReturn, toDispute, disputed, lost, refunded] = await Promise.all(
    Array.from({ length: 5 }, () => aPaidCharge(merchant)),
  );
  const [blocked, blockedToo] = await Promise.all([anOpenDispute(disputed!), anOpenDispute(lost!)]);
  const failing = await aPayingMerchant(2 * COST_CENTS);
  const paying = await aPayingMerchant(3 * COST_CENTS);
  const returned = await createPayout(paying);
  const { end_to_end_id } = await waitForPayout(paying, returned.body.id, 'completed');
  const unsent = { operation: 'sendPayout', fault: 'error_before', status: 503 };
  const noRefunds = { operation: 'refund', fault: 'error_before', status: 503 };
  const stays = await simulator.addFaults(paying, [unsent]);
  const fails = await simulator.addFaults(failing, [unsent]);
  const noRefund = await simulator.addFaults(merchant, [noRefunds]);
  const settles = (await createPayout(paying)).body.id as string;
  const refused = (await createPayout(failing)).body.id as string;
  expect((await requestRefund(refunded!.id, PART_CENTS)).status).toBe(201);
  return { goOn, expectEnded };

  async function goOn(): Promise<void> {
    await acquirer.pay(unpaid.id);
    await acquirer.returnPix(toReturn!.endToEndId, { amount: PART_CENTS, natureza: 'ORIGINAL' });
    await acquirer.openDispute({ end_to_end_id: toDispute!.endToEndId, reason: 'scam' });
    await acquirer.decideDispute(blocked, { outcome: 'won' });
    await acquirer.decideDispute(blockedToo, { outcome: 'lost' });
    await anUnownedPix();
    await returnAtAcquirer(end_to_end_id, { natureza: 'ORIGINAL' });
    await simulator.addFaults(failing, [{ operation: 'sendPayout', fault: 'refusal' }]);
    for (const fault of [stays, fails, noRefund]) await fault.remove();
    await eventually(async () => expect(await broker.unansweredTypes()).toEqual(COMMANDS), 60_000);
  }

  async function expectEnded(): Promise<void> {
    await waitUntilPaid(merchant, unpaid.id, HEALED_MS_MAX);
    await waitForPayout(paying, settles, 'completed', HEALED_MS_MAX);
    await waitForPayout(failing, refused, 'failed', HEALED_MS_MAX);
    const [refund] = await endedRefundsOf(refunded!.id, HEALED_MS_MAX);
    expect(refund.status).toBe('completed');
    await eventually(async () => {
      // Six charges, less what went back, what was lost and what is disputed.
      const available = 6 * CHARGE_CENTS - 2 * PART_CENTS - 2 * CHARGE_CENTS;
      expect(await balancesOf(merchant.accountId)).toMatchObject({
        available,
        held: 0,
        blocked: CHARGE_CENTS,
      });
      expect(await availableOf(failing)).toBe(2 * COST_CENTS);
      expect(await availableOf(paying)).toBe(COST_CENTS + AMOUNT_CENTS);
    }, HEALED_MS_MAX);
    expect((await readPayout(paying, returned.body.id)).status).toBe('completed');
  }
}

async function aPaidCharge(merchant: Merchant): Promise<{ id: string; endToEndId: string }> {
  const { id } = await createChargeStubbornly(merchant, { amount: CHARGE_CENTS });
  const { body } = await acquirer.pay(id);
  await waitUntilPaid(merchant, id, HEALED_MS_MAX);
  return { id, endToEndId: body.end_to_end_id };
}

/** Open here, with its block booked. */
async function anOpenDispute(charge: { id: string; endToEndId: string }): Promise<string> {
  const { body } = await acquirer.openDispute({
    end_to_end_id: charge.endToEndId,
    reason: 'scam',
  });
  await eventually(async () => expect(await disputesOf(charge.id)).toHaveLength(1), HEALED_MS_MAX);
  await eventually(async () => expect(await broker.unansweredTypes()).toEqual([]), HEALED_MS_MAX);
  return body.id;
}

async function anUnownedPix(): Promise<string> {
  const answer = await call(`${stack().simulator_url}/control/pix`, {
    method: 'POST',
    body: { amount: CHARGE_CENTS, chave: secretsOfHome().acquirerPixKey },
  });
  expect(answer.status).toBe(201);
  return answer.body.end_to_end_id;
}

function eventOf(request: Json): string {
  return JSON.parse(Buffer.from(request.body_base64, 'base64').toString()).event;
}
