import { randomUUID } from 'node:crypto';

import { eventually } from '@pixmesh/testkit/eventually';

import {
  admin,
  type Answer,
  createChargeStubbornly,
  type Json,
  type Merchant,
  readCharge,
} from '../e2e/mesh.ts';
import { acquirer } from '../e2e/acquirer.ts';

/** What became of one charge, from the hand that did it: for the log of a seed that fails. */
export type Life = { chargeId: string; amount: number; actions: string[] };

const AMOUNT_MIN = 500;
const AMOUNT_MAX = 50_000;
const ACTIONS_MAX = 3;
const PAID_MS_MAX = 120_000;

type Random = () => number;

/**
 * One charge from its creation to whatever a seed does to it: paid in every way or never, refunded, returned behind
 * our back, disputed and decided. Nothing waits for the mesh except where an operator would.
 */
export async function liveOne(merchant: Merchant, random: Random): Promise<Life> {
  const amount = AMOUNT_MIN + Math.floor(random() * (AMOUNT_MAX - AMOUNT_MIN));
  const charge = await createChargeStubbornly(merchant, { amount });
  const life: Life = { chargeId: charge.id, amount, actions: [] };
  const isPaid = await pay(life, random);
  if (!isPaid) return life;
  const paid = await waitUntilCredited(merchant, life);
  for (let actions = Math.floor(random() * (ACTIONS_MAX + 1)); actions > 0; actions -= 1) {
    await doOne(life, paid.pix.end_to_end_id, random);
  }
  return life;
}

/** Whether the charge will be paid. */
async function pay(life: Life, random: Random): Promise<boolean> {
  const { chargeId, amount } = life;
  const dice = random();
  if (dice < 0.06) {
    await act(life, 'wrong amount', acquirer.pay(chargeId, { amount: amount - 1 }));
    return false;
  }
  if (dice < 0.12) {
    await act(life, 'canceled', admin('POST', `/admin/charges/${chargeId}/cancel`));
    await act(life, 'paid after cancellation', acquirer.pay(chargeId));
    return false;
  }
  if (dice < 0.2) {
    const [canceled] = await Promise.all([
      act(life, 'canceled while', admin('POST', `/admin/charges/${chargeId}/cancel`)),
      act(life, 'paid', acquirer.pay(chargeId)),
    ]);
    return canceled?.status === 409;
  }
  await act(life, 'paid', acquirer.pay(chargeId, { times: 1 + Math.floor(random() * 3) }));
  if (dice < 0.3) await act(life, 'paid again', acquirer.pay(chargeId));
  return true;
}

async function waitUntilCredited(merchant: Merchant, life: Life): Promise<Json> {
  return await eventually(async () => {
    const charge = await readCharge(merchant, life.chargeId);
    if (charge.paid_at === null) throw new Error(`${life.chargeId} is ${charge.status}`);
    return charge;
  }, PAID_MS_MAX);
}

async function doOne(life: Life, endToEndId: string, random: Random): Promise<void> {
  const part = 1 + Math.floor(random() * life.amount);
  const dice = random();
  if (dice < 0.45) {
    const headers = { 'idempotency-key': `refund-${randomUUID()}` };
    const body = random() < 0.5 ? {} : { amount: part };
    const path = `/admin/charges/${life.chargeId}/refunds`;
    await act(life, 'refund', admin('POST', path, body, headers));
    return;
  }
  if (dice < 0.6) {
    const natureza = random() < 0.7 ? 'ORIGINAL' : 'MED_FRAUDE';
    const returned = acquirer.returnPix(endToEndId, { amount: part, natureza });
    await act(life, `returned ${natureza}`, returned);
    return;
  }
  await dispute(life, { endToEndId, part }, random);
}

async function dispute(
  life: Life,
  pix: { endToEndId: string; part: number },
  random: Random,
): Promise<void> {
  const opening = acquirer.openDispute({
    end_to_end_id: pix.endToEndId,
    reason: 'scam',
    ...(random() < 0.3 ? { amount: pix.part } : {}),
    ...(random() < 0.2 ? { status: 'lost' } : {}),
  });
  const opened = await act(life, 'disputed', opening);
  const id: string | undefined = opened?.body?.id;
  const dice = random();
  if (id === undefined || dice < 0.15) return;
  if (dice < 0.3) {
    await act(life, 'withdrawn', acquirer.withdrawDispute(id));
    return;
  }
  if (dice < 0.55) await act(life, 'won', acquirer.decideDispute(id, { outcome: 'won' }));
  if (dice < 0.4) return;
  const returned = random() < 0.3 ? { returned_amount: Math.floor(random() * pix.part) } : {};
  await act(life, 'lost', acquirer.decideDispute(id, { outcome: 'lost', ...returned }));
}

/** Notes the answer to the action, which may be none: what was done all the same is found at the acquirer. */
async function act(life: Life, action: string, acting: Promise<Answer>): Promise<Answer | null> {
  const answer = await acting.catch(() => null);
  const what = answer?.body?.amount ?? answer?.body?.code ?? '';
  life.actions.push(`${action} ${answer?.status ?? 'unanswered'} ${what}`);
  return answer;
}
