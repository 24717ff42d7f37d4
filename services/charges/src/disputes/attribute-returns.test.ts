import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { attributeReturns, type DisputeFacts, type ReturnFacts } from './attribute-returns.ts';

const DAY_MS = 86_400_000;
const START_MS = Date.parse('2026-11-01T12:00:00.000Z');

function at(day: number): Date {
  return new Date(START_MS + day * DAY_MS);
}

/** `accepted`: the day of the decision for the payer, null while there is none. */
function dispute(infractionId: string, opened: number, accepted: number | null, amount = 1_000n) {
  const acceptedAt = accepted === null ? null : at(accepted);
  return { infractionId, amount, openedAt: at(opened), acceptedAt };
}

function returned(returnId: string, settled: number | null, amount: bigint): ReturnFacts {
  return { returnId, amount, settledAt: settled === null ? null : at(settled) };
}

function attribute(disputes: DisputeFacts[], returns: ReturnFacts[]) {
  return Object.fromEntries(attributeReturns(disputes, returns));
}

const MINUTES = 1 / 1_440;

test.each<[string, DisputeFacts[], ReturnFacts[], Record<string, bigint>]>([
  [
    'each return goes with the decision that it follows',
    [dispute('first', 0, 3), dispute('second', 5, 9)],
    [returned('r1', 4, 300n), returned('r2', 9, 500n)],
    { first: 300n, second: 500n },
  ],
  [
    'a late return of the first dispute is its own, although the second was open before it',
    [dispute('first', 0, 3), dispute('second', 3.5, null)],
    [returned('r1', 4, 1_000n)],
    { first: 1_000n, second: 0n },
  ],
  [
    'a dispute that was won and lost in the end gets the return of its last decision',
    [dispute('first', 0, 9), dispute('second', 5, null)],
    [returned('r1', 9, 400n)],
    { first: 400n, second: 0n },
  ],
  [
    'a return a moment before its decision is its own',
    [dispute('first', 0, 3), dispute('second', 5, 9)],
    [returned('r1', 3, 300n), returned('r2', 9 - MINUTES, 300n)],
    { first: 300n, second: 300n },
  ],
  [
    'a dispute whose amount has gone back makes room for the next one',
    [dispute('first', 0, 3, 600n), dispute('second', 5, null, 400n)],
    [returned('r1', 3, 600n), returned('r2', 6, 400n)],
    { first: 600n, second: 400n },
  ],
  [
    'before any decision is known it belongs to the dispute opened last before it',
    [dispute('first', 0, null), dispute('second', 5, null)],
    [returned('r1', 4, 100n), returned('r2', 6, 200n)],
    { first: 100n, second: 200n },
  ],
  [
    'a return before every dispute belongs to the first one',
    [dispute('second', 5, null), dispute('first', 2, null)],
    [returned('r1', 1, 100n)],
    { first: 100n, second: 0n },
  ],
  [
    'without a time it takes the room that the others leave',
    [dispute('first', 0, 3), dispute('second', 5, 9)],
    [returned('r1', null, 1_000n), returned('r2', 9, 1_000n)],
    { first: 1_000n, second: 1_000n },
  ],
  [
    'more than all disputes have room for is not lost',
    [dispute('first', 0, 3, 100n)],
    [returned('r1', 3, 100n), returned('r2', 4, 50n)],
    { first: 150n },
  ],
  ['without a dispute nothing is attributed', [], [returned('r1', 3, 100n)], {}],
])('%s', (_, disputes, returns, expected) => {
  expect(attribute(disputes, returns)).toEqual(expected);
});

test('the same whatever was read first, and every cent once', () => {
  const day = fc.integer({ min: 0, max: 40 });
  const cents = fc.bigInt({ min: 1n, max: 1_000n });
  const disputes = fc.uniqueArray(
    fc
      .tuple(fc.uuid(), day, fc.option(day), cents)
      .map(([id, opened, later, amount]) =>
        dispute(id, opened, later === null ? null : opened + later, amount),
      ),
    { minLength: 1, maxLength: 4, selector: ({ infractionId }) => infractionId },
  );
  const returns = fc.uniqueArray(
    fc.tuple(fc.uuid(), fc.option(day), cents).map(([id, on, amount]) => returned(id, on, amount)),
    { maxLength: 5, selector: ({ returnId }) => returnId },
  );
  const shuffled = fc.tuple(disputes, returns).chain(([known, seen]) =>
    fc.record({
      known: fc.constant(known),
      seen: fc.constant(seen),
      otherKnown: fc.shuffledSubarray(known, { minLength: known.length }),
      otherSeen: fc.shuffledSubarray(seen, { minLength: seen.length }),
    }),
  );
  fc.assert(
    fc.property(shuffled, ({ known, seen, otherKnown, otherSeen }) => {
      const attributed = attribute(known, seen);
      expect(attribute(otherKnown, otherSeen)).toEqual(attributed);
      const sum = Object.values(attributed).reduce((all, amount) => all + amount, 0n);
      expect(sum).toBe(seen.reduce((all, { amount }) => all + amount, 0n));
    }),
  );
});
