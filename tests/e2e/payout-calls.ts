import { createHash, randomUUID } from 'node:crypto';

import { eventually } from '@pixmesh/testkit/eventually';
import { expect } from 'vitest';

import {
  admin,
  aMerchant,
  type Answer,
  call,
  createChargeStubbornly,
  type Json,
  type Merchant,
  simulator,
  stack,
  v1,
  waitUntilPaid,
} from './mesh.ts';

export const FEE_CENTS = 50;
/** The payout of most tests, in cents. */
export const AMOUNT_CENTS = 1_000;
export const COST_CENTS = AMOUNT_CENTS + FEE_CENTS;

/** A merchant that pays out without an approval, with money to spend. Funding is a charge that is paid. */
export async function aPayingMerchant(
  fundsCents: number,
  settings: object = {},
): Promise<Merchant> {
  const merchant = await aMerchant({
    onboarding_status: 'approved',
    auto_payout_enabled: true,
    payout_fee: FEE_CENTS,
    ...settings,
  });
  if (fundsCents > 0) await fund(merchant, fundsCents);
  return merchant;
}

/** Money in: a charge of exactly this amount, paid. Answers the charge's id. */
export async function fund(merchant: Merchant, amountCents: number): Promise<string> {
  const charge = await createChargeStubbornly(merchant, { amount: amountCents });
  const end_to_end_id = anEndToEndId();
  await eventually(() => simulator.pay(charge.id, { end_to_end_id }), 60_000);
  await waitUntilPaid(merchant, charge.id, 60_000);
  merchant.funding.push(charge.id);
  return charge.id;
}

/** A body of `POST /v1/payouts` with valid defaults. */
export function aPayoutBody({ recipientKey }: Merchant, changes: object = {}): object {
  return { amount: AMOUNT_CENTS, pix_key_type: 'email', pix_key: recipientKey, ...changes };
}

export async function createPayout(
  merchant: Merchant,
  changes: object = {},
  idempotencyKey: string = randomUUID(),
): Promise<Answer> {
  const headers = { 'idempotency-key': idempotencyKey };
  return await v1(merchant, 'POST /payouts', { headers, body: aPayoutBody(merchant, changes) });
}

export async function readPayout(merchant: Merchant, id: string): Promise<Json> {
  const answer = await v1(merchant, `GET /payouts/${id}`);
  expect(answer.status).toBe(200);
  return answer.body;
}

export async function waitForPayout(
  merchant: Merchant,
  id: string,
  status: string,
  timeoutMs = 30_000,
): Promise<Json> {
  return await eventually(async () => {
    const payout = await readPayout(merchant, id);
    expect([payout.status, payout.failure_reason]).toEqual([status, payout.failure_reason]);
    return payout;
  }, timeoutMs);
}

/** The id that the contract gives to a key: UUIDv5 (RFC 9562) of `payout:<key>` under the application. */
export function payoutIdOf(merchant: Merchant, idempotencyKey: string): string {
  const namespace = Buffer.from(merchant.applicationId.replaceAll('-', ''), 'hex');
  const name = Buffer.from(`payout:${idempotencyKey}`);
  const digest = createHash('sha1').update(namespace).update(name).digest();
  digest.writeUInt8((digest.readUInt8(6) & 0x0f) | 0x50, 6);
  digest.writeUInt8((digest.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = digest.toString('hex').slice(0, 32);
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** What the acquirer did for one payout, oldest first. */
export async function sendsOf(payoutId: string): Promise<Json[]> {
  const idEnvio = payoutId.replaceAll('-', '');
  return (await simulator.journal()).filter((entry) => entry.id_envio === idEnvio);
}

/** The acquirer returns money of a Pix that it had sent. */
export async function returnAtAcquirer(endToEndId: string, body: object): Promise<Answer> {
  const url = `${stack().simulator_url}/control/pix/${endToEndId}/returns`;
  return await call(url, { method: 'POST', body });
}

/** An operator of its own, and the admin API in its name. */
export async function anOperator(): Promise<{
  id: string;
  call(method: string, path: string, body?: object): Promise<Answer>;
}> {
  const operator = await admin('POST', '/admin/operators', { name: `Operador ${randomUUID()}` });
  expect(operator.status).toBe(201);
  const { id, token } = operator.body;
  const headers = { authorization: `Bearer ${token}` };
  return {
    id,
    call: (method, path, body) => call(stack().admin_url + path, { method, headers, body }),
  };
}

/** Ours, so that paying again after a lost answer is the same Pix. */
function anEndToEndId(): string {
  return `E12345678202611211200${randomUUID().replaceAll('-', '').slice(0, 11)}`;
}
