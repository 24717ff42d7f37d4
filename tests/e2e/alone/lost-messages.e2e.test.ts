import { randomUUID } from 'node:crypto';

import { CHARGE_COMMANDS, PAYOUT_COMMANDS } from '@pixmesh/contracts/messages/ledger-command.v1';
import { MESSAGE_TYPES } from '@pixmesh/contracts/messages/message-types';
import { TOPICS } from '@pixmesh/contracts/topics';
import { eventually } from '@pixmesh/testkit/eventually';
import { sampled } from '@pixmesh/testkit/long-runs';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { COMMANDS, prepareCommandLives } from '../../lives/command-lives.ts';
import { ANNOUNCED, prepareEventLives } from '../../lives/event-lives.ts';
import { acquirer } from '../acquirer.ts';
import { expectNoBreaks } from '../find-breaks.ts';
import { type Broker, openBroker } from '../lose-messages.ts';
import {
  admin,
  adminBody,
  aMerchant,
  createChargeStubbornly,
  type Json,
  received,
  waitUntilPaid,
} from '../mesh.ts';

/** A lost command is sent again after 20 s here, a lost event is found within two runs of reconciliation. */
const HEALED_MS_MAX = 120_000;
const CHARGE_CENTS = 2_000;

/** What the ledger answers to these commands. */
const OUTCOMES = [
  'acquirer_tariff.booked',
  'dispute.blocked',
  'dispute.returned',
  'dispute.unblocked',
  'hold.released',
  'hold.settled',
  'payout.suspended',
  'payout_return.credited',
  'received_pix.credited',
  'received_pix.returned',
  'received_pix.suspended',
  'suspense.credited',
  'suspense.resolved',
];

/** Types that no case below loses, each with the reason. */
const NOT_LOST: Readonly<Record<string, string>> = {
  'account.limits_changed':
    'Moves no money: `in_force` of an account’s limits shows what senders go by, and the same PATCH announces it again.',
  'hold.end_refused':
    'One hold is ended in two ways by a bug alone; the ledger publishes it again as it does every outcome (hold-ends.int.test.ts).',
};

let broker: Broker;

beforeAll(() => {
  broker = openBroker();
});
afterAll(() => broker[Symbol.asyncDispose]());

/** Each type of message in turn is deleted from its topic before it is read. */
const LOSSES: {
  name: string;
  loses: readonly string[];
  run: (loses: readonly string[]) => Promise<void>;
}[] = [
  {
    name: 'commands that are lost before the ledger reads them are sent again, and done once',
    loses: COMMANDS.map(typeOf).filter((type, index, types) => types.indexOf(type) === index),
    run: async (loses) => {
      const lives = await prepareCommandLives(broker, HEALED_MS_MAX);
      const held = await broker.holdBackCommands();
      await lives.decide();
      await broker.whileFrozen(['ledger'], async () => {
        await held[Symbol.asyncDispose]();
        await lives.goOn();
        await broker.untilPublished(['charges', 'payouts']);
        expect(await broker.lose([TOPICS.ledgerCommands], held.since)).toEqual(loses.toSorted());
      });
      await lives.expectEnded(HEALED_MS_MAX);
    },
  },
  {
    name: 'outcomes that are lost before anybody reads them are published again',
    loses: OUTCOMES,
    run: async (loses) => {
      const lives = await prepareCommandLives(broker, HEALED_MS_MAX);
      const held = await broker.holdBackCommands();
      await lives.decide();
      await broker.whileFrozen(['ledger'], async () => {
        await held[Symbol.asyncDispose]();
        await lives.goOn();
        await broker.untilPublished(['charges', 'payouts']);
        await broker.whileFrozen(['charges', 'payouts'], async (since) => {
          broker.thaw('ledger');
          await broker.untilDecided();
          await broker.untilPublished(['ledger']);
          expect(await broker.lose([TOPICS.ledgerEvents], since)).toEqual(loses);
        });
      });
      await lives.expectEnded(HEALED_MS_MAX);
    },
  },
  {
    name: 'events that are lost before the dispatcher reads them are delivered',
    loses: ANNOUNCED,
    run: async (loses) => {
      const lives = await prepareEventLives(HEALED_MS_MAX);
      await broker.whileFrozen(['webhook-dispatcher'], async (since) => {
        await lives.goOn();
        const topics = [TOPICS.chargesEvents, TOPICS.payoutsEvents];
        await eventually(async () => {
          expect(await broker.typesSince(topics, since)).toEqual(loses);
        }, HEALED_MS_MAX);
        await broker.untilPublished(['charges', 'payouts']);
        expect(await broker.lose(topics, since)).toEqual(loses);
      });
      await lives.expectDelivered(HEALED_MS_MAX);
    },
  },
  {
    name: "an application's state that is lost before the dispatcher hears of it arrives",
    loses: ['application.changed'],
    run: async (loses) => {
      const merchant = await aMerchant();
      await broker.whileFrozen(['webhook-dispatcher'], async (since) => {
        await adminBody('PATCH', `/admin/applications/${merchant.applicationId}`, {
          active: false,
        });
        await broker.untilPublished(['gateway']);
        expect(await broker.lose([TOPICS.accountsEvents], since)).toEqual(loses);
      });
      await eventually(async () => {
        expect(await broker.stateAtDispatcher(merchant.applicationId)).toBe(false);
      }, HEALED_MS_MAX);
    },
  },
  {
    name: 'callbacks that are lost before anybody reads them are made up for',
    loses: ['acquirer.callback'],
    run: async (loses) => {
      const merchant = await aMerchant();
      const charge = await createChargeStubbornly(merchant, { amount: CHARGE_CENTS });
      await broker.whileFrozen(['charges', 'payouts'], async (since) => {
        await acquirer.pay(charge.id);
        await broker.untilStored(charge.id);
        await broker.untilPublished(['gateway']);
        expect(await broker.lose([TOPICS.acquirerCallbacks], since)).toEqual(loses);
      });
      await waitUntilPaid(merchant, charge.id, HEALED_MS_MAX);
    },
  },
  {
    name: 'topics that are deleted and made again lose nothing',
    loses: [],
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

test('every type of message is lost by a case, or there is a reason why not', () => {
  const lost = new Set(LOSSES.flatMap(({ loses }) => loses));
  const types = MESSAGE_TYPES.map(({ type }) => type);
  expect(types.filter((type) => !lost.has(type))).toEqual(Object.keys(NOT_LOST));
  const commands = [
    ...Object.keys(CHARGE_COMMANDS).map((type) => `charges ${type}`),
    ...Object.keys(PAYOUT_COMMANDS).map((type) => `payouts ${type}`),
  ];
  expect(COMMANDS).toEqual(commands.toSorted());
});

test.each(sampled(LOSSES, 1))('$name', ({ run, loses }) => run(loses), 600_000);

test('reconciliation explains all of it, and nothing waits for an outcome', async () => {
  await expectNoBreaks();
  await eventually(async () => expect(await broker.unansweredTypes()).toEqual([]), HEALED_MS_MAX);
  expect((await admin('GET', '/admin/dead-letters')).body.data).toEqual([]);
}, 600_000);

/** Of a command with its sender. */
function typeOf(command: string): string {
  return command.slice(command.indexOf(' ') + 1);
}

function eventOf(request: Json): string {
  return JSON.parse(Buffer.from(request.body_base64, 'base64').toString()).event;
}
