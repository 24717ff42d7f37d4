import { describe, expect, test } from 'vitest';

import { decideAnswer, decideNotFound, type OrderCalls } from './order-calls.ts';

const LIMITS = { callMs: 6_000, refusalWaitMs: 900_000 };
const readAt = new Date('2026-11-21T12:00:00.000Z');
const ago = (ms: number) => new Date(readAt.getTime() - ms);

function calls(changes: Partial<OrderCalls> = {}): OrderCalls {
  return { unansweredCalls: 1, lastCallAt: readAt, uncountedRefusal: null, readAt, ...changes };
}

describe('the answer to a call', () => {
  const formerCallAt = ago(60_000);
  const decide = (row: OrderCalls, answer: Parameters<typeof decideAnswer>[1]) =>
    decideAnswer({ row, formerCallAt }, answer);
  const refused = { kind: 'refused', code: 'AC03', message: 'no such account' } as const;
  const reason = 'AC03: no such account';

  test.each([1, 2, 7])('is adopted when it accepts, whatever came before (%i calls)', (count) => {
    const row = calls({ unansweredCalls: count, uncountedRefusal: 'AC03: earlier' });
    const accepted = { kind: 'accepted', value: 'order' } as const;
    expect(decide(row, accepted)).toEqual(accepted);
  });

  test('ends the order when it refuses the only call, with code and text', () => {
    expect(decide(calls(), refused)).toEqual({ kind: 'fail', reason });
  });

  test.each([2, 3, 20])('is only recorded when it refuses one of %i unanswered calls', (count) => {
    const row = calls({ unansweredCalls: count });
    expect(decide(row, refused)).toEqual({ kind: 'record_refusal', reason });
  });

  test.each(['breaker_open', 'token_timeout'])(
    'takes a call that was never sent (%s) off the count, with the former time',
    (cause) => {
      expect(decide(calls(), { kind: 'unknown', cause })).toEqual({
        kind: 'uncount',
        lastCallAt: formerCallAt,
        cause: 'never_sent',
        error: cause,
      });
    },
  );

  test.each(['timeout', 'connection', 'status_500', 'duplicate'])(
    'decides nothing when it is unknown: %s',
    (cause) => {
      expect(decide(calls(), { kind: 'unknown', cause })).toEqual({
        kind: 'check_later',
        error: cause,
      });
    },
  );
});

describe('an order that the acquirer does not have', () => {
  const refusal = 'AC03: no such account';

  test.each<[string, Partial<OrderCalls>, string]>([
    ['is ordered where no call was made', { lastCallAt: null, unansweredCalls: 0 }, 'order_again'],
    ['waits while a call may be under way', { lastCallAt: ago(5_999) }, 'check_later'],
    ['is ordered again once no call is under way', { lastCallAt: ago(6_000) }, 'order_again'],
    ['never fails by age', { lastCallAt: ago(1e10), unansweredCalls: 1_000 }, 'order_again'],
    [
      'waits with a refusal that does not count yet, and is not ordered again',
      { lastCallAt: ago(899_999), uncountedRefusal: refusal },
      'check_later',
    ],
  ])('%s', (_name, changes, kind) => {
    expect(decideNotFound(calls(changes), LIMITS)).toEqual({ kind });
  });

  test('fails by its refusal once the wait after the last call is over', () => {
    const order = calls({ lastCallAt: ago(900_000), uncountedRefusal: refusal });
    expect(decideNotFound(order, LIMITS)).toEqual({ kind: 'fail', reason: refusal });
  });
});
