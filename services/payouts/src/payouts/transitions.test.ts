import { newId } from '@pixmesh/kernel/ids';
import type { Queryable } from '@pixmesh/postgres/pool';
import { aCaller } from '@pixmesh/testkit/test-callers';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { decideApproval, decideCancellation } from '#operators/decide-in-queue.ts';
import { decideLedgerEvent, type HoldEvent } from '#settlement/decide-ledger-event.ts';
import { decideCheck } from '#status-check/decide-check.ts';
import { aPayoutRow } from '#test/a-payout-row.ts';
import { anAcquirerPayout } from '#test/an-acquirer-payout.ts';

import { movePayout } from './move-payouts.sql.ts';
import type { StoredStatus, VisiblePayout } from './payout-row.ts';
import { mayMove, TRANSITIONS } from './transitions.ts';

const STATUSES = Object.keys(TRANSITIONS) as StoredStatus[];
const VISIBLE = STATUSES.filter((status) => status !== 'intent');

const pairs = STATUSES.flatMap((from) =>
  VISIBLE.map((to) => ({ from, to, isWritten: from === to || mayMove(from, to) })),
);

test.each(pairs)('a move from $from to $to is written: $isWritten', async (pair) => {
  const statements: unknown[] = [];
  const db: Queryable = {
    query: async (statement) => {
      statements.push(statement);
      return [];
    },
  };
  const from = { ...aPayoutRow(), status: pair.from };
  const change = { from, status: pair.to, events: [], checkInMs: null };
  const moved = movePayout(db, change);
  if (pair.isWritten) expect(await moved).toBe(false);
  else await expect(moved).rejects.toThrow('no such transition');
  expect(statements).toHaveLength(pair.isWritten ? 1 : 0);
});

/** Payouts in every status; an end is ordered of those in processing only, as the table of payouts demands. */
const aPayout: fc.Arbitrary<VisiblePayout> = fc
  .record({
    status: fc.constantFrom(...VISIBLE),
    ending: fc.constantFrom('settle' as const, 'release' as const, null),
    contradiction: fc.constantFrom('failed_after_completed', null),
    processedAt: fc.constantFrom(new Date('2026-11-21T12:00:00.000Z'), null),
    unansweredCalls: fc.nat(2),
  })
  .map(({ status, ending, ...rest }) =>
    aPayoutRow({ ...rest, status, ending: status === 'processing' ? ending : null }),
  );

describe('what is decided is a move of the table', () => {
  test('in the queue, and there each such move is made', () => {
    const { settings } = aCaller();
    for (const status of VISIBLE) {
      const payout = aPayoutRow({ status });
      const isCanceled = decideCancellation(payout).kind === 'act';
      expect([status, isCanceled]).toEqual([status, mayMove(status, 'canceled')]);
      const isApproved = decideApproval(payout, newId(), settings).kind === 'act';
      expect([status, isApproved]).toEqual([status, mayMove(status, 'processing')]);
    }
  });

  test('after an event of the ledger', () => {
    const ends = fc.constantFrom('settled' as const, 'released' as const);
    const event: fc.Arbitrary<HoldEvent> = fc.oneof(
      ends.map((kind) => ({ kind })),
      fc.record({
        kind: fc.constant('end_refused' as const),
        wanted: ends,
        state: fc.constantFrom('settled' as const, 'released' as const, 'voided' as const),
      }),
    );
    fc.assert(
      fc.property(aPayout, event, (payout, seen) => {
        const { kind } = decideLedgerEvent(payout, seen);
        if (kind === 'complete') expect(mayMove(payout.status, 'completed')).toBe(true);
        if (kind === 'fail') expect(mayMove(payout.status, 'failed')).toBe(true);
      }),
    );
  });

  test('after a status check, which writes to a payout in processing only what keeps it there', () => {
    const limits = { callMs: 4_000, refusalWaitMs: 900_000 };
    const found = fc.constantFrom('processing' as const, 'settled' as const, 'rejected' as const);
    fc.assert(
      fc.property(aPayout, fc.option(found), (payout, status) => {
        const lookup =
          status === null
            ? ({ kind: 'not_found' } as const)
            : ({ kind: 'found', value: anAcquirerPayout({ status }) } as const);
        const { kind } = decideCheck(payout, lookup, limits);
        if (kind === 'accept' || kind === 'order_end') expect(payout.status).toBe('processing');
      }),
    );
  });
});
