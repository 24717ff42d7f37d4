import { newId, type OperatorId, type PayoutId } from '@pixmesh/kernel/ids';
import type { PastEvent } from '@pixmesh/postgres/event-history';
import { expect, test } from 'vitest';

import { type PayoutSteps, toTimelineEntries } from './to-timeline-entries.ts';

const NOON_MS = Date.parse('2026-11-21T12:00:00.000Z');
const OPERATOR = newId<OperatorId>();

type Life = {
  approvedBy: OperatorId | null;
  /** In the snapshots of its events. */
  announced: string[];
  status: PayoutSteps['payout']['status'];
  states: string[];
};

const LIVES: Record<string, Life> = {
  automatic: {
    approvedBy: null,
    announced: ['processing', 'processing', 'completed'],
    status: 'completed',
    states: ['new → intent', 'intent → processing', 'processing → completed'],
  },
  'approved and completed': {
    approvedBy: OPERATOR,
    announced: ['pending', 'processing', 'completed'],
    status: 'completed',
    states: ['new → intent', 'intent → pending', 'pending → processing', 'processing → completed'],
  },
  'approved and refused': {
    approvedBy: OPERATOR,
    announced: ['pending', 'failed'],
    status: 'failed',
    states: ['new → intent', 'intent → pending', 'pending → processing', 'processing → failed'],
  },
  'approved a moment ago': {
    approvedBy: OPERATOR,
    announced: ['pending'],
    status: 'processing',
    states: ['new → intent', 'intent → pending', 'pending → processing'],
  },
  canceled: {
    approvedBy: null,
    announced: ['pending', 'canceled'],
    status: 'canceled',
    states: ['new → intent', 'intent → pending', 'pending → canceled'],
  },
  'without events': {
    approvedBy: null,
    announced: [],
    status: 'pending',
    states: ['new → intent'],
  },
};

test.each(Object.entries(LIVES))(
  'the states of a payout that was %s follow from each other',
  (_, { approvedBy, announced, status, states }) => {
    const entries = toTimelineEntries(aLife({ approvedBy, status }, announced));
    const own = entries.filter(({ kind }) => kind === 'state');
    expect(own.map(({ what }) => what)).toEqual(states);
    const times = own.map(({ at }) => at);
    expect(times).toEqual(times.toSorted());
  },
);

test('when a payout was approved is told as what it is: the latest possible time', () => {
  const entries = toTimelineEntries(
    aLife({ approvedBy: OPERATOR, status: 'processing' }, ['pending']),
  );
  expect(entries.find(({ what }) => what === 'pending → processing')).toMatchObject({
    at: new Date(NOON_MS + 1_500).toISOString(),
    details: { approved_by: OPERATOR, is_latest_possible_time: true },
  });
});

test('an automatic payout that waits for approval says why', () => {
  const pendingReason = 'payouts stopped: books';
  const life = aLife({ approvedBy: null, status: 'pending', pendingReason }, ['pending']);
  const waiting = toTimelineEntries(life).find(({ what }) => what === 'intent → pending');
  expect(waiting?.details).toEqual({ sequence: 1, reason: pendingReason });
});

function aLife(
  payout: Pick<PayoutSteps['payout'], 'approvedBy' | 'status'> & { pendingReason?: string },
  statuses: string[],
): PayoutSteps {
  const id = newId<PayoutId>();
  const events = statuses.map((status, index): PastEvent => {
    const at = new Date(NOON_MS + (index + 1) * 1_000);
    return { id: newId(), type: 'an.event', sequence: index + 1, at, resourceId: id, status };
  });
  return {
    payout: { id, createdAt: new Date(NOON_MS), pendingReason: null, ...payout },
    sending: { first_put_at: new Date(NOON_MS + 1_500), send_at: null },
    events,
    returns: [],
    resolutions: [],
  };
}
