import type { Lookup, PixReturn, RefundOutcome } from '@pixmesh/acquirer/client';
import { assertNever } from '@pixmesh/kernel/app-error';
import { toCents } from '@pixmesh/kernel/money';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { aPixReturn } from '#test/a-received-pix.ts';

import {
  decideOrderAnswer,
  decideOrderLook,
  type OrderStep,
  type ReturnOrder,
} from './decide-return-order.ts';

const limits = { acquirerTimeoutMs: 4_000, refusalWaitMs: 900_000 };
const readAt = new Date('2026-11-21T12:00:00.000Z');
const REFUSAL = 'valor_invalido: no';

function ago(seconds: number): Date {
  return new Date(readAt.getTime() - seconds * 1000);
}

function anOrder(changes: Partial<ReturnOrder> = {}): ReturnOrder {
  const order = { amount: toCents(12_345), unansweredPuts: 1, lastPutAt: ago(60) };
  return { ...order, uncountedRefusal: null, readAt, ...changes };
}

const ORDERS = {
  'never called': anOrder({ unansweredPuts: 0, lastPutAt: null }),
  'called just now': anOrder({ lastPutAt: ago(3.9) }),
  'called long enough ago': anOrder({ lastPutAt: ago(4) }),
  'refused a while ago after an unknown call': anOrder({
    unansweredPuts: 2,
    lastPutAt: ago(899),
    uncountedRefusal: REFUSAL,
  }),
  'refused 15 minutes ago after an unknown call': anOrder({
    unansweredPuts: 2,
    lastPutAt: ago(900),
    uncountedRefusal: REFUSAL,
  }),
  taken: anOrder({ unansweredPuts: 0 }),
};

const LOOKUPS = {
  unknown: { kind: 'unknown', cause: 'timeout' },
  'not found': { kind: 'not_found' },
  'at work': { kind: 'found', value: aPixReturn({ status: 'processing' }) },
  returned: { kind: 'found', value: aPixReturn() },
  failed: { kind: 'found', value: aPixReturn({ status: 'failed', reason: 'AC03' }) },
  'another amount': { kind: 'found', value: aPixReturn({ amountCents: toCents(1) }) },
} as const satisfies Record<string, Lookup<PixReturn>>;

const soon = 'soon';
const work = 'at work';
const failed = 'fail NAO_REALIZADO: AC03';
const other = 'at work (other_amount)';

/** One row an order; columns as in LOOKUPS. */
const TABLE: Record<keyof typeof ORDERS, readonly string[]> = {
  'never called': [soon, 'put', work, 'returned', failed, other],
  'called just now': [soon, soon, work, 'returned', failed, other],
  'called long enough ago': [soon, 'put', work, 'returned', failed, other],
  'refused a while ago after an unknown call': [soon, soon, work, 'returned', failed, other],
  'refused 15 minutes ago after an unknown call': [
    soon,
    `fail ${REFUSAL}`,
    work,
    'returned',
    failed,
    other,
  ],
  taken: [soon, 'at work (vanished)', work, 'returned', failed, other],
};

describe.each(Object.entries(TABLE))('a return that was %s', (name, expected) => {
  const cells = Object.entries(LOOKUPS).map(([look, found], index) => ({
    look,
    found,
    wanted: expected[index],
  }));
  test.each(cells)('looked at: $look → $wanted', ({ found, wanted }) => {
    const order = ORDERS[name as keyof typeof ORDERS];
    expect(say(decideOrderLook(order, found, limits))).toBe(wanted);
  });
});

test.each<[string, Partial<ReturnOrder>, RefundOutcome, string]>([
  [
    'accepted and at work',
    {},
    { kind: 'accepted', refund: aPixReturn({ status: 'processing' }) },
    work,
  ],
  ['accepted and done', {}, { kind: 'accepted', refund: aPixReturn() }, 'returned'],
  ['unknown', {}, { kind: 'unknown', cause: 'timeout' }, soon],
  [
    'refused, the only call',
    {},
    { kind: 'refused', code: 'valor_invalido', message: 'no' },
    `fail ${REFUSAL}`,
  ],
  [
    'refused, another call has no answer',
    { unansweredPuts: 2 },
    { kind: 'refused', code: 'valor_invalido', message: 'no' },
    `keep ${REFUSAL}`,
  ],
])('an answer: %s', (_name, changes, outcome, wanted) => {
  expect(say(decideOrderAnswer(anOrder(changes), outcome))).toBe(wanted);
});

test('age alone never ends a return, and nothing is ordered while a call may be under way', () => {
  const silent = fc.constantFrom(LOOKUPS.unknown, LOOKUPS['not found'], LOOKUPS['at work']);
  fc.assert(
    fc.property(fc.nat(1_000_000), fc.integer({ min: 1, max: 50 }), silent, (age, puts, found) => {
      const order = anOrder({ lastPutAt: ago(age / 10), unansweredPuts: puts });
      const { kind } = decideOrderLook(order, found, limits);
      expect(['put', 'look_later']).toContain(kind);
      if (age / 10 < 4) expect(kind).toBe('look_later');
    }),
  );
});

function say(step: OrderStep): string {
  switch (step.kind) {
    case 'fail':
      return `fail ${step.reason}`;
    case 'keep_refusal':
      return `keep ${step.reason}`;
    case 'look_later': {
      const pace = step.pace === 'unknown' ? soon : work;
      return step.problem === null ? pace : `${pace} (${step.problem})`;
    }
    case 'put':
    case 'returned':
      return step.kind;
    default:
      return assertNever(step);
  }
}
