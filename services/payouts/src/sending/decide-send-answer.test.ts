import { toCents } from '@pixmesh/kernel/money';
import { expect, test } from 'vitest';

import { anAcquirerPayout } from '#test/an-acquirer-payout.ts';
import { aSentPayout } from '#test/a-sent-payout.ts';

import { decideSendAnswer } from './decide-send-answer.ts';

const refused = { kind: 'refused', code: 'AC03', message: 'no such account' } as const;
const unknown = { kind: 'unknown', cause: 'timeout' } as const;

test.each([1, 2, 7])('an accepted order is adopted, whatever came before (%i calls)', (calls) => {
  const sent = anAcquirerPayout();
  const payout = aSentPayout({ unansweredPuts: calls, uncountedRefusal: 'AC03: earlier' });
  expect(decideSendAnswer(payout, { kind: 'accepted', payout: sent })).toEqual({
    kind: 'accept',
    sent,
  });
});

test('an order that was accepted with another amount is never adopted', () => {
  const payout = aSentPayout();
  const sent = anAcquirerPayout({ amountCents: toCents(payout.amount + 1n) });
  expect(decideSendAnswer(payout, { kind: 'accepted', payout: sent })).toEqual({ kind: 'look' });
});

test('a refusal of the only call ends the payout, with its code and text', () => {
  expect(decideSendAnswer(aSentPayout({ unansweredPuts: 1 }), refused)).toEqual({
    kind: 'release',
    reason: 'AC03: no such account',
  });
});

test.each([2, 3, 20])('a refusal is only kept while %i calls are without an answer', (calls) => {
  expect(decideSendAnswer(aSentPayout({ unansweredPuts: calls }), refused)).toEqual({
    kind: 'keep_refusal',
    reason: 'AC03: no such account',
  });
});

test.each(['breaker_open', 'token_timeout'])(
  'a call that was never sent (%s) does not count',
  (cause) => {
    const payout = aSentPayout({ unansweredPuts: 1 });
    expect(decideSendAnswer(payout, { kind: 'unknown', cause })).toEqual({ kind: 'uncount' });
  },
);

test.each([1, 2])(
  'an unknown outcome decides nothing, whatever came before (%i calls)',
  (calls) => {
    const payout = aSentPayout({ unansweredPuts: calls });
    expect(decideSendAnswer(payout, unknown)).toEqual({ kind: 'look' });
  },
);
