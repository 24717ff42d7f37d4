import { randomUUID } from 'node:crypto';

import { eventually } from '@pixmesh/testkit/eventually';
import { expect } from 'vitest';

import { admin, type Answer, type Json } from './mesh.ts';

/** An operator asks for a refund of a part of a charge, or without an amount of all that is left. */
export async function requestRefund(
  chargeId: string,
  amount?: number,
  idempotencyKey: string = randomUUID(),
): Promise<Answer> {
  const headers = { 'idempotency-key': idempotencyKey };
  const body = amount === undefined ? {} : { amount };
  return await admin('POST', `/admin/charges/${chargeId}/refunds`, body, headers);
}

/** All refunds of a charge, newest first. */
async function refundsOf(chargeId: string): Promise<Json[]> {
  const { status, body } = await admin('GET', `/admin/charges/${chargeId}/refunds?limit=100`);
  expect([status, body.has_more]).toEqual([200, false]);
  return body.data;
}

/** Waits until no refund of a charge is under way, and answers them. */
export async function endedRefundsOf(chargeId: string, timeoutMs: number): Promise<Json[]> {
  return await eventually(async () => {
    const refunds = await refundsOf(chargeId);
    expect(refunds.filter(({ status }) => status === 'processing')).toEqual([]);
    return refunds;
  }, timeoutMs);
}
