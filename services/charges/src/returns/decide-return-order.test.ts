import type { Lookup, PixReturn } from '@pixmesh/acquirer/acquirer';
import { toCents } from '@pixmesh/kernel/money';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { aPixReturn } from '#test/a-received-pix.ts';

import { type OrderCheckStep, decideOrderCheck, type ReturnOrder } from './decide-return-order.ts';

const limits = { acquirerTimeoutMs: 4_000, refusalWaitMs: 900_000 };
const readAt = new Date('2026-11-21T12:00:00.000Z');
const REFUSAL = 'valor_invalido: no';

function ago(seconds: number): Date {
  return new Date(readAt.getTime() - seconds * 1000);
}

function anOrder(changes: Partial<ReturnOrder> = {}): ReturnOrder {
  const order = { amount: toCents(12_345), unansweredCalls: 1, lastCallAt: ago(60) };
  return { ...order, uncountedRefusal: null, readAt, ...changes };
}

const ORDERS = {
  'never called': anOrder({ unansweredCalls: 0, lastCallAt: null }),
  'called just now': anOrder({ lastCallAt: ago(3.9) }),
  'called long enough ago': anOrder({ lastCallAt: ago(4) }),
  'refused a while ago after an unknown call': anOrder({
    unansweredCalls: 2,
    lastCallAt: ago(899),
    uncountedRefusal: REFUSAL,
  }),
  'refused 15 minutes ago after an unknown call': anOrder({
    unansweredCalls: 2,
    lastCallAt: ago(900),
    uncountedRefusal: REFUSAL,
  }),
  accepted: anOrder({ unansweredCalls: 0 }),
};

const LOOKUPS = {
  unknown: { kind: 'unknown', cause: 'timeout' },
  'not found': { kind: 'not_found' },
  'in progress': { kind: 'found', value: aPixReturn({ status: 'processing' }) },
  returned: { kind: 'found', value: aPixReturn() },
  failed: { kind: 'found', value: aPixReturn({ status: 'failed', reason: 'AC03' }) },
  'another amount': { kind: 'found', value: aPixReturn({ amountCents: toCents(1) }) },
} as const satisfies Record<string, Lookup<PixReturn>>;

const soon = 'check_later';
const progress = 'in_progress';
const failed = 'fail NAO_REALIZADO: AC03';
const other = 'other_amount';

/** One row an order; columns as in LOOKUPS. */
const TABLE: Record<keyof typeof ORDERS, readonly string[]> = {
  'never called': [soon, 'order_again', progress, 'returned', failed, other],
  'called just now': [soon, soon, progress, 'returned', failed, other],
  'called long enough ago': [soon, 'order_again', progress, 'returned', failed, other],
  'refused a while ago after an unknown call': [soon, soon, progress, 'returned', failed, other],
  'refused 15 minutes ago after an unknown call': [
    soon,
    `fail ${REFUSAL}`,
    progress,
    'returned',
    failed,
    other,
  ],
  accepted: [soon, 'vanished', progress, 'returned', failed, other],
};

describe.each(Object.entries(TABLE))('a return that was %s', (name, expected) => {
  const cells = Object.entries(LOOKUPS).map(([check, found], index) => ({
    check,
    found,
    expectedStep: expected[index],
  }));
  test.each(cells)('checked: $check → $expectedStep', ({ found, expectedStep }) => {
    const order = ORDERS[name as keyof typeof ORDERS];
    expect(describeStep(decideOrderCheck(order, found, limits))).toBe(expectedStep);
  });
});

test('age alone never ends a return, and nothing is ordered while a call may be under way', () => {
  const silent = fc.constantFrom(LOOKUPS.unknown, LOOKUPS['not found'], LOOKUPS['in progress']);
  fc.assert(
    fc.property(fc.nat(1_000_000), fc.integer({ min: 1, max: 50 }), silent, (age, calls, found) => {
      const order = anOrder({ lastCallAt: ago(age / 10), unansweredCalls: calls });
      const { kind } = decideOrderCheck(order, found, limits);
      expect(['order_again', 'check_later', 'in_progress']).toContain(kind);
      if (age / 10 < 4) expect(kind).not.toBe('order_again');
    }),
  );
});

function describeStep(step: OrderCheckStep): string {
  if (step.kind === 'fail') return `fail ${step.reason}`;
  return step.kind === 'contradicted' ? step.problem : step.kind;
}
