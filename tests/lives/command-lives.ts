import { eventually } from '@pixmesh/testkit/eventually';
import { expect } from 'vitest';

import { acquirer } from '../e2e/acquirer.ts';
import { balancesOf, disputesOf } from '../e2e/acquirer-channels.ts';
import { leaveBreak } from '../e2e/find-breaks.ts';
import type { Broker } from '../e2e/lose-messages.ts';
import {
  admin,
  aMerchant,
  availableOf,
  call,
  createChargeStubbornly,
  type Json,
  type Merchant,
  secretsOfHome,
  simulator,
  stack,
  waitUntilPaid,
} from '../e2e/mesh.ts';
import {
  AMOUNT_CENTS,
  aPayingMerchant,
  COST_CENTS,
  createPayout,
  readPayout,
  returnAtAcquirer,
  waitForPayout,
} from '../e2e/payout-calls.ts';
import { endedRefundsOf, requestRefund } from '../e2e/refund-calls.ts';

const CHARGE_CENTS = 2_000;
const PART_CENTS = 500;
const TARIFF_CENTS = 12;
const UNSENT = { operation: 'sendPayout', fault: 'error_before', status: 503 };
const UNREFUNDED = { operation: 'refund', fault: 'error_before', status: 503 };

/** What the lives below have the ledger do, each by the service that sends it. */
export const COMMANDS = [
  'charges acquirer_tariff.book',
  'charges dispute.block',
  'charges dispute.return',
  'charges dispute.unblock',
  'charges hold.release',
  'charges hold.settle',
  'charges received_pix.credit',
  'charges received_pix.return',
  'charges received_pix.suspend',
  'charges suspense.credit',
  'charges suspense.resolve',
  'payouts hold.release',
  'payouts hold.settle',
  'payouts payout.suspend',
  'payouts payout_return.credit',
  'payouts suspense.resolve',
];

/** Charges and payouts whose next step needs a command to the ledger, one of each type. */
export type CommandLives = {
  /** What operators decide; it asks the ledger, whose commands have to wait meanwhile. */
  decide(): Promise<void>;
  /** What happens at the acquirer. Returns when a command of every type waits for its outcome. */
  goOn(): Promise<void>;
  /** Every one of them has ended, once and to the cent. */
  expectEnded(timeoutMs: number): Promise<void>;
};

export async function prepareCommandLives(
  broker: Broker,
  timeoutMs: number,
): Promise<CommandLives> {
  const [charges, payouts] = await Promise.all([
    prepareCharges(broker, timeoutMs),
    preparePayouts(timeoutMs),
  ]);
  return {
    decide: async () => {
      await charges.decide();
      await payouts.decide();
    },
    goOn: async () => {
      await charges.goOn();
      await payouts.goOn();
      await eventually(
        async () => expect(await broker.unansweredTypes()).toEqual(COMMANDS),
        timeoutMs,
      );
      await setTariff(0);
    },
    expectEnded: async (endedMs) => {
      await charges.expectEnded(endedMs);
      await payouts.expectEnded(endedMs);
    },
  };
}

async function prepareCharges(broker: Broker, timeoutMs: number): Promise<CommandLives> {
  const merchant = await aMerchant();
  const refusing = await aMerchant();
  const aPaidCharge = (owner: Merchant) => aPaidChargeOf(owner, timeoutMs);
  const unpaid = await createChargeStubbornly(merchant, { amount: CHARGE_CENTS });
  const [toReturn, toDispute, disputed, lost, refunded] = await Promise.all(
    Array.from({ length: 5 }, () => aPaidCharge(merchant)),
  );
  const unrefunded = await aPaidCharge(refusing);
  const [blocked, blockedToo] = await Promise.all(
    [disputed!, lost!].map((charge) => anOpenDispute(broker, charge, timeoutMs)),
  );
  const nobodys = await itemOf('end_to_end_id', await anUnownedPix(), timeoutMs);
  const noRefund = await simulator.addFaults(merchant, [UNREFUNDED]);
  const noAnswer = await simulator.addFaults(refusing, [UNREFUNDED]);
  expect((await requestRefund(refunded!.id, PART_CENTS)).status).toBe(201);
  expect((await requestRefund(unrefunded.id, PART_CENTS)).status).toBe(201);
  return { decide: () => resolve(nobodys, merchant.accountId), goOn, expectEnded };

  async function goOn(): Promise<void> {
    await setTariff(TARIFF_CENTS);
    await acquirer.pay(unpaid.id);
    await acquirer.returnPix(toReturn!.endToEndId, { amount: PART_CENTS, natureza: 'ORIGINAL' });
    await acquirer.openDispute({ end_to_end_id: toDispute!.endToEndId, reason: 'scam' });
    await acquirer.decideDispute(blocked!, { outcome: 'won' });
    await acquirer.decideDispute(blockedToo!, { outcome: 'lost' });
    await anUnownedPix();
    await simulator.addFaults(refusing, [{ operation: 'refund', fault: 'refusal' }]);
    for (const fault of [noRefund, noAnswer]) await fault.remove();
  }

  async function expectEnded(endedMs: number): Promise<void> {
    await waitUntilPaid(merchant, unpaid.id, endedMs);
    const [refund] = await endedRefundsOf(refunded!.id, endedMs);
    const [refusal] = await endedRefundsOf(unrefunded.id, endedMs);
    expect([refund.status, refusal.status]).toEqual(['completed', 'failed']);
    await eventually(async () => {
      // Seven Pix, less what went back, what was lost and what is disputed.
      expect(await balancesOf(merchant.accountId)).toMatchObject({
        available: 7 * CHARGE_CENTS - 2 * PART_CENTS - 2 * CHARGE_CENTS,
        held: 0,
        blocked: CHARGE_CENTS,
      });
      expect(await balancesOf(refusing.accountId)).toMatchObject({
        available: CHARGE_CENTS,
        held: 0,
      });
    }, endedMs);
  }
}

async function preparePayouts(timeoutMs: number): Promise<CommandLives> {
  const failing = await aPayingMerchant(2 * COST_CENTS);
  const paying = await aPayingMerchant(5 * COST_CENTS);
  const [returned, contradicted, toContradict] = await Promise.all(
    Array.from({ length: 3 }, () => aCompletedPayout(paying)),
  );
  await contradict(contradicted);
  const kept = await itemOf('payout_id', contradicted!.id, timeoutMs);
  const stays = await simulator.addFaults(paying, [UNSENT]);
  const fails = await simulator.addFaults(failing, [UNSENT]);
  const settles = (await createPayout(paying)).body.id as string;
  const refused = (await createPayout(failing)).body.id as string;
  return { decide: () => resolve(kept), goOn, expectEnded };

  async function goOn(): Promise<void> {
    await returnAtAcquirer(returned!.end_to_end_id, { natureza: 'ORIGINAL' });
    await contradict(toContradict);
    await simulator.addFaults(failing, [{ operation: 'sendPayout', fault: 'refusal' }]);
    for (const fault of [stays, fails]) await fault.remove();
  }

  async function expectEnded(endedMs: number): Promise<void> {
    await waitForPayout(paying, settles, 'completed', endedMs);
    await waitForPayout(failing, refused, 'failed', endedMs);
    await eventually(async () => {
      expect(await availableOf(failing)).toBe(2 * COST_CENTS);
      // Of four that were sent two came back, one of them by an operator's decision; the last one waits for its own.
      expect(await balancesOf(paying.accountId)).toMatchObject({
        available: COST_CENTS + 2 * AMOUNT_CENTS,
        held: 0,
        suspense: AMOUNT_CENTS,
      });
    }, endedMs);
    expect((await readPayout(paying, returned!.id)).status).toBe('completed');
  }
}

async function aCompletedPayout(merchant: Merchant): Promise<Json> {
  const created = await createPayout(merchant);
  return await waitForPayout(merchant, created.body.id, 'completed');
}

/** The acquirer calls failed what had completed; an operator has to see it, for as long as the history is kept. */
async function contradict({ id }: Json): Promise<void> {
  leaveBreak(id);
  const url = `${stack().simulator_url}/control/sends/${id}/contradict`;
  const answer = await call(url, { method: 'POST', body: { status: 'NAO_REALIZADO' } });
  expect(answer.status).toBe(200);
}

async function setTariff(amount: number): Promise<void> {
  const url = `${stack().simulator_url}/control/tariff`;
  expect((await call(url, { method: 'PUT', body: { amount } })).status).toBe(200);
}

/** The open item of suspense that names this Pix or payout. */
async function itemOf(
  field: 'end_to_end_id' | 'payout_id',
  value: string,
  timeoutMs: number,
): Promise<string> {
  return await eventually(async () => {
    const { body } = await admin('GET', '/admin/suspense?status=open&limit=100');
    const item = body.data.find((one: Json) => one[field] === value);
    if (item === undefined) throw new Error(`no item of ${value}`);
    return item.id;
  }, timeoutMs);
}

/** An operator gives an item to its owner, or to this account where it has none. */
async function resolve(itemId: string, account_id: string | null = null): Promise<void> {
  const body = { action: 'accept', account_id };
  const answer = await admin('POST', `/admin/suspense/${itemId}/resolve`, body);
  expect([answer.status, answer.body]).toEqual([202, answer.body]);
}

async function aPaidChargeOf(
  merchant: Merchant,
  timeoutMs: number,
): Promise<{ id: string; endToEndId: string }> {
  const { id } = await createChargeStubbornly(merchant, { amount: CHARGE_CENTS });
  const { body } = await acquirer.pay(id);
  await waitUntilPaid(merchant, id, timeoutMs);
  return { id, endToEndId: body.end_to_end_id };
}

/** Open here, with its block booked. */
async function anOpenDispute(
  broker: Broker,
  charge: { id: string; endToEndId: string },
  timeoutMs: number,
): Promise<string> {
  const { body } = await acquirer.openDispute({
    end_to_end_id: charge.endToEndId,
    reason: 'scam',
  });
  await eventually(async () => {
    expect(await disputesOf(charge.id)).toHaveLength(1);
    expect(await broker.unansweredTypes()).toEqual([]);
  }, timeoutMs);
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
