import { randomUUID } from 'node:crypto';

import { z } from 'zod';

import { equal, holds, shaped } from '../client/expectations.ts';
import { type Balance, type Charge, listOf } from '../client/schemas.ts';
import { catalog, deliveryOf } from './fixtures.ts';
import { CHARGE_BODY, type Merchant } from './merchant.ts';
import type { Delivery } from './receiver.ts';
import { until } from './until.ts';
import { aPaidCharge, PAYING_ACCOUNT, shared, type World } from './world.ts';

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

export const canceledCharge = shared(async (w): Promise<Life> => {
  const listener = await aListener(w);
  const { id } = await listener.merchant.charges.create();
  await w.admin.call(`POST /admin/charges/${id}/cancel`);
  return { ...listener, charge: await listener.merchant.charges.until(id, 'canceled') };
});

export const refundedCharge = shared(async (w): Promise<EndedLife> => {
  const paid = await aPaidLife(w);
  const { merchant, charge } = paid;
  await w.admin.call(`POST /admin/charges/${charge.id}/refunds`, {
    headers: { 'idempotency-key': randomUUID() },
    status: 201,
  });
  const ended = await merchant.charges.until(charge.id, 'refunded');
  return { ...paid, charge: ended, after: await merchant.balance() };
});

/** A charge of the platform's checkout; what the merchant's key shows of it is nothing. */
export const checkoutCharge = shared(async (w) => {
  const listener = await aListener(w);
  const path = `/admin/accounts/${listener.merchant.ids.accountId}/charges`;
  const made = await w.admin.call(`POST ${path}`, { body: CHARGE_BODY, status: 201 });
  return { ...listener, id: shaped(Made, made, 'the charge of the checkout').id };
});

/** A dispute that has just been opened. */
export const openedDispute = shared(async (w): Promise<ContestedLife> => {
  return await contest(w, await aPaidLife(w), DISPUTED_CENTS);
});

/** The same after the defense, with a message of the platform. */
export const reviewedDispute = shared(async (w): Promise<ContestedLife> => {
  const contested = await openedDispute(w);
  const found = await w.admin.call(`GET /admin/disputes?charge_id=${contested.charge.id}`);
  const [dispute] = shaped(listOf(Made), found, 'the disputes of the charge').data;
  const path = `/admin/disputes/${dispute?.id}`;
  await w.admin.call(`POST ${path}/defense`, { body: { text: 'O pedido foi entregue.' } });
  const message = { message: DISPUTE_MESSAGE };
  await w.admin.call(`POST ${path}/messages`, { body: message, status: 201 });
  return contested;
});

/** The same after the MED was denied. */
export const wonDispute = shared(async (w): Promise<ContestedLife & EndedLife> => {
  const contested = await reviewedDispute(w);
  const { merchant, charge, before, infractionId } = contested;
  await w.simulator.decide(infractionId, 'won');
  const ended = await merchant.charges.until(charge.id, 'paid');
  const after = await untilAvailable(merchant, before.available);
  return { ...contested, charge: ended, after };
});

/** The same after the payer's institution took the Pix back all the same. */
export const lostAfterWon = shared(async (w) => await lose(w, await wonDispute(w)));

/** A dispute that was opened over the whole charge and lost. */
export const lostDispute = shared(async (w) => {
  const paid = await aPaidLife(w);
  return await lose(w, await contest(w, paid, paid.charge.amount));
});

/** What a charge becomes by the acquirer's word for the money of a dispute that arrives resolved. */
export const ARRIVALS = { MED_FRAUDE: 'charged_back', ORIGINAL: 'refunded' } as const;

/** A dispute that is lost when it is first announced. */
export function arrivedDispute(world: World, natureza: keyof typeof ARRIVALS): Promise<Life> {
  return world.once(`arrived dispute ${natureza}`, async () => {
    const paid = await aPaidLife(world);
    await world.simulator.dispute(endToEndIdOf(paid.charge), { status: 'lost', natureza });
    const charge = await paid.merchant.charges.until(paid.charge.id, ARRIVALS[natureza]);
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
  const events = (await catalog(world)).map(({ event }) => event);
  const { url } = await merchant.endpoints.create({ events });
  return { merchant, endpointUrl: url };
}

async function aPaidLife(world: World): Promise<PaidLife> {
  const listener = await aListener(world);
  const charge = await aPaidCharge(world, listener.merchant);
  const before = await until(async () => {
    const found = await listener.merchant.balance();
    holds(found.available > 0, 'the money of the charge is available', found);
    return found;
  });
  return { ...listener, charge, before };
}

async function contest(world: World, paid: PaidLife, amount: number): Promise<ContestedLife> {
  const { merchant, charge, before } = paid;
  const infractionId = await world.simulator.dispute(endToEndIdOf(charge), { amount });
  const infraction = await merchant.charges.until(charge.id, 'infraction');
  const blocked = await untilAvailable(merchant, before.available - amount);
  return { ...paid, charge: infraction, disputedCents: amount, infractionId, infraction, blocked };
}

async function lose(world: World, contested: ContestedLife): Promise<ContestedLife & EndedLife> {
  const { merchant, charge, before, disputedCents, infractionId } = contested;
  await world.simulator.decide(infractionId, 'lost');
  const ended = await merchant.charges.until(charge.id, 'charged_back');
  const after = await untilAvailable(merchant, before.available - disputedCents);
  return { ...contested, charge: ended, after };
}

async function untilAvailable(merchant: Merchant, cents: number): Promise<Balance> {
  return await until(async () => {
    const balance = await merchant.balance();
    equal(balance.available, cents, 'the available balance');
    return balance;
  });
}

function endToEndIdOf({ pix }: Charge): string {
  holds(pix.end_to_end_id !== null, 'the end-to-end id of the paid charge', pix);
  return pix.end_to_end_id ?? '';
}
