import { deadlineIn } from '@pixmesh/http/deadline';
import type { InternalAnswer, InternalRequest } from '@pixmesh/http/internal-client';
import { AppError } from '@pixmesh/kernel/app-error';
import { newId } from '@pixmesh/kernel/ids';
import { describe, expect, test } from 'vitest';

import { aPayoutRow } from '#test/a-payout-row.ts';

import { createLedgerClient } from './ledger-client.ts';

const payout = aPayoutRow();
const hold_id = payout.holdId;

/** A ledger that gives one answer, and remembers what it was asked. */
function ledgerThat(answer: { status?: number; body: unknown } | Error) {
  const asked: InternalRequest[] = [];
  const client = createLedgerClient({
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
    take: () => client.takeHold(payout, deadlineIn(1_000)),
    void: () => client.voidHold(payout, deadlineIn(1_000)),
  };
}

describe('taking a hold', () => {
  test('asks for amount and fee of the payout, by the service for itself', async () => {
    const ledger = ledgerThat({
      body: { hold_id, outcome: 'held', reason: null, state: 'open' },
    });
    expect(await ledger.take()).toEqual({ kind: 'held', state: 'open' });
    const [request] = ledger.asked;
    expect(request).toMatchObject({
      method: 'PUT',
      path: `/internal/holds/${hold_id}`,
      claims: null,
    });
    expect(JSON.parse(Buffer.from(request?.body ?? []).toString())).toEqual({
      account_id: payout.accountId,
      resource_id: payout.id,
      kind: 'payout',
      amount: 1_500,
      fee: 50,
    });
  });

  test.each(['insufficient_balance', 'voided', 'resource_held'] as const)(
    'tells a refusal: %s',
    async (reason) => {
      const body = { hold_id, outcome: 'refused', reason, state: 'refused' };
      expect(await ledgerThat({ body }).take()).toEqual({ kind: 'refused', reason });
    },
  );

  test('tells what became of a hold that stood', async () => {
    const body = { hold_id, outcome: 'held', reason: null, state: 'released' };
    expect(await ledgerThat({ body }).take()).toEqual({ kind: 'held', state: 'released' });
  });
});

describe('voiding a hold', () => {
  test('asks under the hold itself', async () => {
    const ledger = ledgerThat({ body: { hold_id, outcome: 'voided', state: 'voided' } });
    expect(await ledger.void()).toEqual({ kind: 'voided' });
    expect(ledger.asked[0]).toMatchObject({
      method: 'POST',
      path: `/internal/holds/${hold_id}/void`,
    });
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
    ['a refused token', { status: 401, body: { code: 'UNAUTHORIZED' } }],
    ['a hold of other content', { status: 409, body: { code: 'CONFLICT' } }],
    ['a held answer with the wrong status', { status: 202, body: { ...held, ...voided } }],
    ['no JSON', { body: '<html>' }],
    ['another hold', { body: { ...held, hold_id: newId() } }],
    ['an unknown word', { body: { ...held, outcome: 'perhaps' } }],
    ['an empty object', { body: {} }],
  ])('%s', async (_name, answer) => {
    expect((await ledgerThat(answer).take()).kind).toBe('unknown');
    expect((await ledgerThat(answer).void()).kind).toBe('unknown');
  });

  test.each(['exceeds_received', 'unknown_pix'])(
    'a refusal of a refund is none: %s',
    async (reason) => {
      const body = { hold_id, outcome: 'refused', reason, state: 'refused' };
      expect(await ledgerThat({ body }).take()).toMatchObject({ kind: 'unknown' });
    },
  );

  test('a refusal without a reason is none', async () => {
    const body = { hold_id, outcome: 'refused', reason: null, state: 'refused' };
    expect((await ledgerThat({ body }).take()).kind).toBe('unknown');
  });

  test('a bug of ours is no answer of the ledger', async () => {
    await expect(ledgerThat(new TypeError('bug')).take()).rejects.toThrow('bug');
  });
});
