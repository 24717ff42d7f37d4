import { randomUUID } from 'node:crypto';

import { z } from 'zod';

import { type Balance, type Charge, listOf } from '../client/schemas.ts';
import { equal, holds, shaped } from '../client/expectations.ts';
import { idsOf } from './admin.ts';
import {
  catalog,
  createEndpoint,
  deliveryOf,
  endpointUrl,
  readBalance,
  untilCharge,
} from './fixtures.ts';
import { aChargeBody, createCharge, type Merchant } from './merchant.ts';
import type { Delivery } from './receiver.ts';
import { until } from './until.ts';
import { PAYING_ACCOUNT, type World } from './world.ts';

/**
 * Charges that do not simply stay paid. Each has a merchant to itself, so that nothing else moves the balance, and an
 * endpoint that receives every event; a life of several steps stops after each of them for the cases of that one.
 */
export type Life = { merchant: Merchant; endpointUrl: string; charge: Charge };

/** The balance before and after what befell a paid charge. */
type PaidLife = Life & { before: Balance };
export type EndedLife = PaidLife & { after: Balance };

export type ContestedLife = PaidLife & {
  disputedCents: number;
  /** The acquirer's id of the dispute. */
  infractionId: string;
  infraction: Charge;
  blocked: Balance;
};

/** Less than the charge, so that one amount is not taken for the other. */
const DISPUTED_CENTS = 1_000;
export const DISPUTE_MESSAGE = 'O banco pediu a nota fiscal.';

export function canceledCharge(world: World): Promise<Life> {
  return world.once('canceled charge', async () => {
    const listener = await aListener(world);
    const { id } = await createCharge(listener.merchant);
    await world.admin.call(`POST /admin/charges/${id}/cancel`);
    return { ...listener, charge: await untilCharge(listener.merchant, id, 'canceled') };
  });
}

export function refundedCharge(world: World): Promise<EndedLife> {
  return world.once('refunded charge', async () => {
    const paid = await aPaidLife(world);
    const { merchant, charge } = paid;
    await world.admin.call(`POST /admin/charges/${charge.id}/refunds`, {
      headers: { 'idempotency-key': randomUUID() },
      status: 201,
    });
    const ended = await untilCharge(merchant, charge.id, 'refunded');
    return { ...paid, charge: ended, after: await readBalance(merchant) };
  });
}

/** A charge of the platform's checkout; what the merchant's key shows of it is nothing. */
export function checkoutCharge(
  world: World,
): Promise<{ merchant: Merchant; endpointUrl: string; id: string }> {
  return world.once('checkout charge', async () => {
    const listener = await aListener(world);
    const path = `/admin/accounts/${idsOf(listener.merchant).accountId}/charges`;
    const made = await world.admin.call(`POST ${path}`, { body: aChargeBody(), status: 201 });
    return { ...listener, id: shaped(Made, made, 'the charge of the checkout').id };
  });
}

/** A dispute that has just been opened. */
export function openedDispute(world: World): Promise<ContestedLife> {
  return world.once('opened dispute', async () => {
    return await contest(world, await aPaidLife(world), DISPUTED_CENTS);
  });
}

/** The same after the defense, with a message of the platform. */
export function reviewedDispute(world: World): Promise<ContestedLife> {
  return world.once('reviewed dispute', async () => {
    const contested = await openedDispute(world);
    const found = await world.admin.call(`GET /admin/disputes?charge_id=${contested.charge.id}`);
    const [dispute] = shaped(listOf(Made), found, 'the disputes of the charge').data;
    const path = `/admin/disputes/${dispute?.id}`;
    await world.admin.call(`POST ${path}/defense`, { body: { text: 'O pedido foi entregue.' } });
    await world.admin.call(`POST ${path}/messages`, {
      body: { message: DISPUTE_MESSAGE },
      status: 201,
    });
    return contested;
  });
}

/** The same after the MED was denied. */
export function wonDispute(world: World): Promise<ContestedLife & EndedLife> {
  return world.once('won dispute', async () => {
    const contested = await reviewedDispute(world);
    const { merchant, charge, before, infractionId } = contested;
    await world.simulator.decide(infractionId, 'won');
    const ended = await untilCharge(merchant, charge.id, 'paid');
    const after = await untilAvailable(merchant, before.available);
    return { ...contested, charge: ended, after };
  });
}

/** The same after the payer's institution took the Pix back all the same. */
export function lostAfterWon(world: World): Promise<ContestedLife & EndedLife> {
  return world.once('lost after won', async () => await lose(world, await wonDispute(world)));
}

/** A dispute that was opened over the whole charge and lost. */
export function lostDispute(world: World): Promise<ContestedLife & EndedLife> {
  return world.once('lost dispute', async () => {
    const paid = await aPaidLife(world);
    return await lose(world, await contest(world, paid, paid.charge.amount));
  });
}

/** What a charge becomes by the acquirer's word for the money of a dispute that arrives resolved. */
export const ARRIVALS = { MED_FRAUDE: 'charged_back', ORIGINAL: 'refunded' } as const;

/** A dispute that is lost when it is first announced. */
export function arrivedDispute(world: World, natureza: keyof typeof ARRIVALS): Promise<Life> {
  return world.once(`arrived dispute ${natureza}`, async () => {
    const paid = await aPaidLife(world);
    await world.simulator.dispute(endToEndIdOf(paid.charge), { status: 'lost', natureza });
    const charge = await untilCharge(paid.merchant, paid.charge.id, ARRIVALS[natureza]);
    return { ...paid, charge };
  });
}

/** What the merchant's endpoint received of this event, once it has. */
export async function announced(
  world: World,
  life: { endpointUrl: string },
  event: string,
): Promise<Delivery> {
  const hook = world.receiver.at(life.endpointUrl);
  return await until(async () => {
    const deliveries = await hook.deliveries();
    return deliveryOf(new Map(deliveries.map((one) => [one.envelope.event, one])), event);
  });
}

const Made = z.object({ id: z.string() });

async function aListener(world: World): Promise<{ merchant: Merchant; endpointUrl: string }> {
  const merchant = await world.admin.createAccount(PAYING_ACCOUNT);
  const url = endpointUrl(world);
  const events = (await catalog(world)).map(({ event }) => event);
  await createEndpoint(merchant, { url, events });
  return { merchant, endpointUrl: url };
}

async function aPaidLife(world: World): Promise<PaidLife> {
  const listener = await aListener(world);
  const { id } = await createCharge(listener.merchant);
  await world.simulator.pay(id);
  const charge = await untilCharge(listener.merchant, id, 'paid');
  const before = await until(async () => {
    const balance = await readBalance(listener.merchant);
    holds(balance.available > 0, 'the money of the charge is available', balance);
    return balance;
  });
  return { ...listener, charge, before };
}

async function contest(world: World, paid: PaidLife, amount: number): Promise<ContestedLife> {
  const { merchant, charge, before } = paid;
  const infractionId = await world.simulator.dispute(endToEndIdOf(charge), { amount });
  const infraction = await untilCharge(merchant, charge.id, 'infraction');
  const blocked = await untilAvailable(merchant, before.available - amount);
  return { ...paid, charge: infraction, disputedCents: amount, infractionId, infraction, blocked };
}

async function lose(world: World, contested: ContestedLife): Promise<ContestedLife & EndedLife> {
  const { merchant, charge, before, disputedCents, infractionId } = contested;
  await world.simulator.decide(infractionId, 'lost');
  const ended = await untilCharge(merchant, charge.id, 'charged_back');
  const after = await untilAvailable(merchant, before.available - disputedCents);
  return { ...contested, charge: ended, after };
}

async function untilAvailable(merchant: Merchant, cents: number): Promise<Balance> {
  return await until(async () => {
    const balance = await readBalance(merchant);
    equal(balance.available, cents, 'the available balance');
    return balance;
  });
}

function endToEndIdOf({ pix }: Charge): string {
  holds(pix.end_to_end_id !== null, 'the end-to-end id of the paid charge', pix);
  return pix.end_to_end_id ?? '';
}
