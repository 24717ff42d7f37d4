import { deadlineIn } from '@pixmesh/http/deadline';
import type { InternalAnswer, InternalRequest } from '@pixmesh/http/internal-client';
import { AppError } from '@pixmesh/kernel/app-error';
import { newId } from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';
import { describe, expect, test } from 'vitest';

import { createLedgerHolds, type HoldOrder } from './ledger-holds.ts';

const refund: HoldOrder = {
  holdId: newId(),
  accountId: newId(),
  resourceId: newId(),
  kind: 'refund',
  amount: toCents(1_500),
  fee: toCents(0n),
  endToEndId: 'E1234567820261121120000000000001',
};
const payout: HoldOrder = { ...refund, kind: 'payout', fee: toCents(50), endToEndId: null };
const hold_id = refund.holdId;

/** A ledger that gives one answer, and records what it was asked. */
function ledgerThat(answer: { status?: number; body: unknown } | Error) {
  const asked: InternalRequest[] = [];
  const holds = createLedgerHolds({
    request: async (request): Promise<InternalAnswer> => {
      asked.push(request);
      if (answer instanceof Error) throw answer;
      const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
      return { status: answer.status ?? 200, headers: {}, body: Buffer.from(text) };
    },
    [Symbol.asyncDispose]: async () => undefined,
  });
  return {
    asked,
    take: (order = payout) => holds.take(order, deadlineIn(1_000)),
    void: () => holds.void(payout, deadlineIn(1_000)),
  };
}

function bodyOf(request: InternalRequest | undefined): unknown {
  return JSON.parse(Buffer.from(request?.body ?? []).toString());
}

describe('taking a hold', () => {
  const held = { hold_id, outcome: 'held', reason: null, state: 'open' };

  test('asks for amount and fee together, by the service for itself', async () => {
    const ledger = ledgerThat({ body: held });
    expect(await ledger.take(payout)).toEqual({ kind: 'held', state: 'open' });
    const [request] = ledger.asked;
    const path = `/internal/holds/${hold_id}`;
    expect(request).toMatchObject({ method: 'PUT', path, claims: null });
    expect(bodyOf(request)).toEqual({
      account_id: payout.accountId,
      resource_id: payout.resourceId,
      kind: 'payout',
      amount: 1_500,
      fee: 50,
    });
  });

  test('names the Pix of a refund', async () => {
    const ledger = ledgerThat({ body: held });
    expect(await ledger.take(refund)).toEqual({ kind: 'held', state: 'open' });
    expect(bodyOf(ledger.asked[0])).toEqual({
      account_id: refund.accountId,
      resource_id: refund.resourceId,
      kind: 'refund',
      amount: 1_500,
      fee: 0,
      end_to_end_id: refund.endToEndId,
    });
  });

  test.each(['insufficient_balance', 'voided', 'resource_held'] as const)(
    'tells a refusal: %s',
    async (reason) => {
      const body = { hold_id, outcome: 'refused', reason, state: 'refused' };
      expect(await ledgerThat({ body }).take(payout)).toEqual({ kind: 'refused', reason });
      expect(await ledgerThat({ body }).take(refund)).toEqual({ kind: 'refused', reason });
    },
  );

  test.each(['exceeds_received', 'unknown_pix'] as const)(
    'tells a refusal that concerns the Pix of a refund, which decides nothing for a payout: %s',
    async (reason) => {
      const body = { hold_id, outcome: 'refused', reason, state: 'refused' };
      expect(await ledgerThat({ body }).take(refund)).toEqual({ kind: 'refused', reason });
      expect(await ledgerThat({ body }).take(payout)).toMatchObject({ kind: 'unknown' });
    },
  );

  test('tells what became of a hold that stood', async () => {
    const body = { ...held, state: 'released' };
    expect(await ledgerThat({ body }).take()).toEqual({ kind: 'held', state: 'released' });
  });
});

describe('voiding a hold', () => {
  test('asks under the hold itself', async () => {
    const ledger = ledgerThat({ body: { hold_id, outcome: 'voided', state: 'voided' } });
    expect(await ledger.void()).toEqual({ kind: 'voided' });
    const path = `/internal/holds/${hold_id}/void`;
    expect(ledger.asked[0]).toMatchObject({ method: 'POST', path });
  });

  test('tells that the hold stands', async () => {
    const body = { hold_id, outcome: 'already_held', state: 'open' };
    expect(await ledgerThat({ body }).void()).toEqual({ kind: 'already_held', state: 'open' });
  });
});

describe('everything else decides nothing', () => {
  const held = { hold_id, outcome: 'held', reason: null, state: 'open' };
  const voided = { hold_id, outcome: 'voided', state: 'voided' };
  test.each<[string, { status?: number; body: unknown } | Error]>([
    ['no answer', new AppError('DEPENDENCY_UNAVAILABLE')],
    ['a failure', { status: 500, body: { code: 'INTERNAL_ERROR' } }],
    ['a failure with the body of an answer', { status: 500, body: held }],
    ['a refused caller', { status: 401, body: { code: 'UNAUTHORIZED' } }],
    ['a hold of other content', { status: 409, body: { code: 'CONFLICT' } }],
    ['a held answer with the wrong status', { status: 202, body: { ...held, ...voided } }],
    ['no JSON', { body: '<html>' }],
    ['another hold', { body: { ...held, hold_id: newId() } }],
    ['an unknown word', { body: { ...held, outcome: 'perhaps' } }],
    ['a refusal without a reason', { body: { ...held, outcome: 'refused' } }],
    ['an empty object', { body: {} }],
  ])('%s', async (_name, answer) => {
    expect((await ledgerThat(answer).take()).kind).toBe('unknown');
    expect((await ledgerThat(answer).void()).kind).toBe('unknown');
  });

  test('an answer about another hold is named as the cause', async () => {
    const unknown = { kind: 'unknown', cause: 'an answer about another hold' };
    const other = { hold_id: newId() };
    expect(await ledgerThat({ body: { ...held, ...other } }).take()).toEqual(unknown);
    expect(await ledgerThat({ body: { ...voided, ...other } }).void()).toEqual(unknown);
  });

  test('a bug of ours is no answer of the ledger', async () => {
    await expect(ledgerThat(new TypeError('bug')).take()).rejects.toThrow('bug');
  });
});
