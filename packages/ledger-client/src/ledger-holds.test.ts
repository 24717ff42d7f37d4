import { newId } from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';
import { describe, expect, test } from 'vitest';

import { deadlineIn } from '@pixmesh/http/deadline';
import type { InternalAnswer, InternalRequest } from '@pixmesh/http/internal-client';
import { createLedgerHolds, type HoldOrder } from './ledger-holds.ts';

const order: HoldOrder = {
  holdId: newId(),
  accountId: newId(),
  resourceId: newId(),
  kind: 'refund',
  amount: toCents(1_500),
  fee: toCents(0n),
  endToEndId: 'E1234567820261121120000000000001',
};
const hold_id = order.holdId;

/** A ledger that gives one answer, and remembers what it was asked. */
function holdsAt(answer: { status?: number; body: unknown }) {
  const asked: InternalRequest[] = [];
  const holds = createLedgerHolds({
    request: async (request): Promise<InternalAnswer> => {
      asked.push(request);
      const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
      return { status: answer.status ?? 200, headers: {}, body: Buffer.from(text) };
    },
    [Symbol.asyncDispose]: async () => undefined,
  });
  return { asked, take: (changes = {}) => holds.take({ ...order, ...changes }, deadlineIn(1_000)) };
}

function sent(request: InternalRequest | undefined): unknown {
  return JSON.parse(Buffer.from(request?.body ?? []).toString());
}

describe('the hold of a refund', () => {
  test('names its Pix; that of a payout names none', async () => {
    const ledger = holdsAt({ body: { hold_id, outcome: 'held', reason: null, state: 'open' } });
    expect(await ledger.take()).toEqual({ kind: 'held', state: 'open' });
    await ledger.take({ kind: 'payout', endToEndId: null });
    const [refund, payout] = ledger.asked.map(sent);
    expect(refund).toEqual({
      account_id: order.accountId,
      resource_id: order.resourceId,
      kind: 'refund',
      amount: 1_500,
      fee: 0,
      end_to_end_id: order.endToEndId,
    });
    expect(payout).not.toHaveProperty('end_to_end_id');
  });

  test.each([
    'insufficient_balance',
    'voided',
    'resource_held',
    'exceeds_received',
    'unknown_pix',
  ] as const)('tells a refusal: %s', async (reason) => {
    const body = { hold_id, outcome: 'refused', reason, state: 'refused' };
    expect(await holdsAt({ body }).take()).toEqual({ kind: 'refused', reason });
  });

  test('is unknown after whatever else is answered', async () => {
    const held = { hold_id, outcome: 'held', reason: null, state: 'open' };
    const answers = [
      { status: 500, body: held },
      { status: 409, body: { code: 'CONFLICT' } },
      { body: 'no JSON' },
      { body: { ...held, hold_id: newId() } },
      { body: { ...held, outcome: 'refused' } },
    ];
    for (const answer of answers) {
      expect((await holdsAt(answer).take()).kind).toBe('unknown');
    }
  });
});
