import type { AcquirerPayout, Lookup } from '@pixmesh/acquirer/acquirer';
import { toCents } from '@pixmesh/kernel/money';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { VisiblePayout } from '#payouts/payout-row.ts';
import { anAcquirerPayout } from '#test/an-acquirer-payout.ts';
import { aSentPayout } from '#test/a-sent-payout.ts';

import { decideCheck } from './decide-check.ts';

const limits = { callMs: 4_000, refusalWaitMs: 900_000 };
const readAt = new Date('2026-11-21T12:00:00.000Z');
const REFUSAL = 'AC03: no such account';

function ago(seconds: number): Date {
  return new Date(readAt.getTime() - seconds * 1000);
}

/** Every history that a payout may have when it is checked. */
const HISTORIES = {
  'never sent': { lastCallAt: null, unansweredCalls: 0 },
  'sent just now': { lastCallAt: ago(3.9) },
  'sent once, long enough ago': { lastCallAt: ago(4) },
  'sent often, a year ago': { lastCallAt: ago(31_536_000), unansweredCalls: 900 },
  'refused just now after an unknown call': {
    lastCallAt: ago(1),
    unansweredCalls: 2,
    uncountedRefusal: REFUSAL,
  },
  'refused a while ago after an unknown call': {
    lastCallAt: ago(899.9),
    unansweredCalls: 2,
    uncountedRefusal: REFUSAL,
  },
  'refused 15 minutes ago after an unknown call': {
    lastCallAt: ago(900),
    unansweredCalls: 2,
    uncountedRefusal: REFUSAL,
  },
  accepted: { lastCallAt: ago(60), processedAt: ago(60), unansweredCalls: 0 },
  'settlement ordered': { lastCallAt: ago(60), processedAt: ago(60), ending: 'settle' },
  'release ordered after a rejection': {
    lastCallAt: ago(60),
    processedAt: ago(60),
    ending: 'release',
    endingReason: REFUSAL,
  },
  'release ordered after a refusal': {
    lastCallAt: ago(60),
    ending: 'release',
    endingReason: REFUSAL,
  },
  completed: { status: 'completed', lastCallAt: ago(60), processedAt: ago(60) },
  'failed after a rejection': { status: 'failed', processedAt: ago(60), failureReason: REFUSAL },
  'failed after a refusal': { status: 'failed', failureReason: REFUSAL },
  canceled: { status: 'canceled', lastCallAt: null, unansweredCalls: 0 },
  'waiting for approval': { status: 'pending', lastCallAt: null, unansweredCalls: 0 },
  'completed and contradicted': {
    status: 'completed',
    processedAt: ago(60),
    contradiction: 'failed_after_completed',
  },
  'failed and contradicted': {
    status: 'failed',
    failureReason: REFUSAL,
    contradiction: 'completed_after_failed',
  },
} as const satisfies Record<string, Partial<VisiblePayout>>;

const LOOKUPS = {
  unknown: { kind: 'unknown', cause: 'timeout' },
  'not found': { kind: 'not_found' },
  'at work': { kind: 'found', value: anAcquirerPayout() },
  settled: { kind: 'found', value: anAcquirerPayout({ status: 'settled' }) },
  rejected: {
    kind: 'found',
    value: anAcquirerPayout({ status: 'rejected', reason: 'AB03: late' }),
  },
} as const satisfies Record<string, Lookup<AcquirerPayout>>;

type History = keyof typeof HISTORIES;

const soon = 'check soon';
const later = 'check later';
const rest = 'rest';
const again = 'send again';
const accept = 'accept';
const settle = 'settle';
const failRejected = 'release: AB03: late';
const failRefused = `release: ${REFUSAL}`;

/** One row a history; columns as in LOOKUPS. */
const TABLE: Record<History, readonly [string, string, string, string, string]> = {
  'never sent': [soon, again, accept, settle, failRejected],
  'sent just now': [soon, soon, accept, settle, failRejected],
  'sent once, long enough ago': [soon, again, accept, settle, failRejected],
  'sent often, a year ago': [soon, again, accept, settle, failRejected],
  'refused just now after an unknown call': [soon, soon, accept, settle, failRejected],
  'refused a while ago after an unknown call': [soon, soon, accept, settle, failRejected],
  'refused 15 minutes ago after an unknown call': [soon, failRefused, accept, settle, failRejected],
  accepted: [soon, `${later} (vanished)`, later, settle, failRejected],
  'settlement ordered': [
    soon,
    `${rest} (vanished)`,
    `${later} (unfinished)`,
    rest,
    'failed_after_completed',
  ],
  'release ordered after a rejection': [
    soon,
    `${rest} (vanished)`,
    `${later} (unfinished)`,
    'completed_after_failed',
    rest,
  ],
  'release ordered after a refusal': [
    soon,
    rest,
    `${later} (unfinished)`,
    'completed_after_failed',
    rest,
  ],
  completed: [soon, `${rest} (vanished)`, `${later} (unfinished)`, rest, 'failed_after_completed'],
  'failed after a rejection': [
    soon,
    `${rest} (vanished)`,
    `${later} (unfinished)`,
    'completed_after_failed',
    rest,
  ],
  'failed after a refusal': [soon, rest, `${later} (unfinished)`, 'completed_after_failed', rest],
  canceled: [soon, rest, `${later} (unfinished)`, 'completed_after_failed', rest],
  'waiting for approval': [
    soon,
    rest,
    `${rest} (never_sent)`,
    `${rest} (never_sent)`,
    `${rest} (never_sent)`,
  ],
  'completed and contradicted': [soon, `${rest} (vanished)`, rest, rest, rest],
  'failed and contradicted': [soon, rest, rest, rest, rest],
};

describe.each(Object.entries(TABLE))('a payout that is %s', (name, expected) => {
  const payout = aSentPayout({ readAt, ...HISTORIES[name as History] });
  const columns = Object.entries(LOOKUPS).map(([check, found], index) => ({
    check,
    found,
    step: expected[index],
  }));

  test.each(columns)('checked: $check → $step', ({ found, step }) => {
    expect(describeStep(decideCheck(payout, found, limits))).toBe(step);
  });
});

test('an order that is found with another amount is reported and never adopted', () => {
  for (const status of ['processing', 'settled', 'rejected'] as const) {
    const value = anAcquirerPayout({ status, amountCents: toCents(1) });
    const check = (history: History) =>
      describeStep(
        decideCheck(
          aSentPayout({ readAt, ...HISTORIES[history] }),
          { kind: 'found', value },
          limits,
        ),
      );
    expect(check('sent once, long enough ago')).toBe('check soon (other_amount)');
    expect(check('accepted')).toBe('check soon (other_amount)');
    expect(check('settlement ordered')).toBe('rest (other_amount)');
    expect(check('completed')).toBe('rest (other_amount)');
    expect(check('failed after a refusal')).toBe('rest (other_amount)');
  }
});

test('a rejection without words has a reason all the same', () => {
  const value = anAcquirerPayout({ status: 'rejected' });
  const step = decideCheck(aSentPayout({ readAt }), { kind: 'found', value }, limits);
  expect(describeStep(step)).toBe('release: rejected: the acquirer did not carry the payout out');
});

test('age alone never ends a payout: without a refusal or an answer nothing is ordered', () => {
  const ages = fc.nat(1_000_000_000);
  const calls = fc.nat(10_000);
  const silent = fc.constantFrom(LOOKUPS.unknown, LOOKUPS['not found'], LOOKUPS['at work']);
  fc.assert(
    fc.property(ages, calls, silent, (seconds, unansweredCalls, found) => {
      const payout = aSentPayout({ readAt, lastCallAt: ago(seconds), unansweredCalls });
      const step = decideCheck(payout, found, limits);
      expect(['check_later', 'send_again', 'accept']).toContain(step.kind);
    }),
  );
});

test('while a call may be under way nothing is sent and no refusal counts', () => {
  const refusals = fc.option(fc.constant(REFUSAL));
  fc.assert(
    fc.property(fc.nat(3_999), refusals, (milliseconds, uncountedRefusal) => {
      const payout = aSentPayout({
        readAt,
        lastCallAt: ago(milliseconds / 1000),
        uncountedRefusal,
      });
      expect(decideCheck(payout, { kind: 'not_found' }, limits).kind).toBe('check_later');
    }),
  );
});

function describeStep(step: ReturnType<typeof decideCheck>): string {
  switch (step.kind) {
    case 'accept':
      return accept;
    case 'send_again':
      return again;
    case 'contradict':
      return step.contradiction;
    case 'order_end':
      return step.end.kind === 'settle' ? settle : `release: ${step.end.reason}`;
    case 'check_later':
      return withProblem(step.pace === 'unknown' ? soon : later, step.problem);
    case 'rest':
      return withProblem(rest, step.problem);
    default:
      throw new Error('unreachable');
  }
}

function withProblem(step: string, problem: string | null): string {
  return problem === null ? step : `${step} (${problem})`;
}
