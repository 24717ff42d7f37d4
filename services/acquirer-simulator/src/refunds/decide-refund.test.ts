import { describe, expect, it } from 'vitest';

import { decideRefund, planRefund, REFUND_DELAY_MS } from './decide-refund.ts';
import type { PixReturn, ReturnStatus } from '#pix/return-resource.ts';

function aReturn(id: string, status: ReturnStatus, amountCents: bigint): PixReturn {
  const requestedAt = new Date('2026-01-01T00:00:00.000Z');
  const rest = { nature: 'ORIGINAL', description: null, reason: null, settledAt: null };
  return { id, returnId: `D${id}`, status, amountCents, requestedAt, ...rest };
}

const returns = [
  aReturn('done', 'DEVOLVIDO', 300n),
  aReturn('coming', 'EM_PROCESSAMENTO', 200n),
  aReturn('failed', 'NAO_REALIZADO', 900n),
];
const pix = { amountCents: 1_000n, returns };

describe('an order to return money', () => {
  it.each([
    ['all that is left', { id: 'new', amountCents: 500n }, false, 'accept'],
    ['a cent', { id: 'new', amountCents: 1n }, false, 'accept'],
    ['a cent more than is left', { id: 'new', amountCents: 501n }, false, 'exceeds'],
    ['nothing', { id: 'new', amountCents: 0n }, false, 'amount_zero'],
    ['of a Pix that is too old', { id: 'new', amountCents: 1n }, true, 'too_old'],
    ['under the id of a done one', { id: 'done', amountCents: 300n }, false, 'duplicate'],
    ['under the id of one on its way', { id: 'coming', amountCents: 1n }, false, 'duplicate'],
    ['under the id of a failed one', { id: 'failed', amountCents: 1n }, false, 'duplicate'],
    ['under a taken id, wrong otherwise too', { id: 'done', amountCents: 0n }, true, 'duplicate'],
  ] as const)('%s', (_, order, isTooOld, decision) => {
    expect(decideRefund({ pix, isTooOld }, order)).toBe(decision);
  });
});

describe('an accepted refund', () => {
  const operation = 'settleRefund';
  const order = { profile: 'manual', amountCents: 1n } as const;

  it('is done soon where no fault fires, and later under latency', () => {
    const done = { status: 'DEVOLVIDO', reason: null };
    const usual = planRefund({ latencyMs: 0, rule: null }, order);
    expect(usual).toEqual({ ...done, endsInMs: REFUND_DELAY_MS });
    const late = planRefund({ latencyMs: 70, rule: null }, order);
    expect(late).toEqual({ ...done, endsInMs: REFUND_DELAY_MS + 70 });
  });

  it.each([
    [{}, /^AC04: .{1,130}$/],
    [{ code: 'AC03' }, /^AC03$/],
    [{ code: 'AC03', message: 'closed' }, /^AC03: closed$/],
    [{ message: 'x'.repeat(500) }, /^x{140}$/],
  ])('is not done under a refusal with %j, and says why', (words, reason) => {
    const rule = { operation, fault: 'refusal', ...words } as const;
    const plan = planRefund({ latencyMs: 0, rule }, order);
    expect(plan).toMatchObject({ status: 'NAO_REALIZADO', endsInMs: REFUND_DELAY_MS });
    expect(plan.reason).toMatch(reason);
  });

  it('never ends under a hang', () => {
    const rule = { operation, fault: 'hang' } as const;
    expect(planRefund({ latencyMs: 0, rule }, order)).toMatchObject({ endsInMs: null });
  });

  it('of R$ 0.01 is rejected in the profile of Efí', () => {
    const rejected = {
      status: 'NAO_REALIZADO',
      reason: expect.stringMatching(/^AC04: /) as string,
    };
    const planOf = (amountCents: bigint) =>
      planRefund({ latencyMs: 0, rule: null }, { profile: 'efi', amountCents });
    expect(planOf(1n)).toMatchObject(rejected);
    expect(planOf(2n)).toMatchObject({ status: 'DEVOLVIDO' });
  });
});
